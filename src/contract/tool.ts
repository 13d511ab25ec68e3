import { z } from "zod";

/** One version of one agent in the tool store, and one entry of `agentbox.lock`. */
export const InstalledTool = z.object({
  agent: z.string(),
  version: z.string(),
  source: z.enum(["npm", "pypi", "path"]),
  package: z.string().optional(),
  /** What the registry says the package's hash is, such as `sha512-…`. */
  integrity: z.string().optional(),
  /** `sha256:…` over every path, mode and byte that was installed. */
  digest: z.string(),
  bytes: z.int(),
  files: z.int(),
  installedAtMs: z.int(),
});
export type InstalledTool = z.infer<typeof InstalledTool>;

/** `agentbox.lock`: beside a manifest for everybody who works on the project, or in AGENTBOX_HOME for this host. */
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
  /** What references of images without a digest stand for, so that everybody begins with the same. */
  images: z.record(z.string(), z.string().regex(/^sha256:[0-9a-f]{64}$/)).optional(),
});
export type LockFile = z.infer<typeof LockFile>;
