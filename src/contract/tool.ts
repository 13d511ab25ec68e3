import { z } from "zod";

/** One version of one agent in the tool store, and one entry of `agentbox.lock`. */
export const InstalledTool = z.object({
  agent: z.string(),
  version: z.string(),
  source: z.enum(["npm", "pypi", "path"]),
  package: z.string().optional(),
  /** The hash of the package in the registry, such as `sha512-…`. */
  integrity: z.string().optional(),
  /** `sha256:…` over every path, mode and byte that was installed. */
  digest: z.string(),
  bytes: z.int(),
  files: z.int(),
  installedAtMs: z.int(),
});
export type InstalledTool = z.infer<typeof InstalledTool>;

/** `agentbox.lock`: beside a manifest for all who work on the project, or in AGENTBOX_HOME for this host. */
export const LockFile = z.strictObject({
  version: z.literal(1),
  agents: z.record(
    z.string(),
    z.strictObject({
      version: z.string(),
      source: z.enum(["npm", "pypi", "path"]),
      package: z.string().optional(),
      integrity: z.string().optional(),
      digest: z.string(),
      /** Content differs by system and processor: `linux-x64`. */
      platform: z.string(),
    }),
  ),
  /** The digests of image references without one, so that all boxes begin with the same. */
  images: z.record(z.string(), z.string().regex(/^sha256:[0-9a-f]{64}$/)).optional(),
});
export type LockFile = z.infer<typeof LockFile>;
