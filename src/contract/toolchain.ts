import { z } from "zod";

export const toolLanguages = [
  "node",
  "python",
  "go",
  "rust",
  "java",
  "maven",
  "gradle",
  "ruby",
  "deno",
  "bun",
] as const;
export const ToolLanguage = z.enum(toolLanguages);
export type ToolLanguage = z.infer<typeof ToolLanguage>;

/** A project's wish. SECURITY: the version is text of a repository; it is compared, and never a path. */
export interface ToolNeed {
  readonly language: ToolLanguage;
  readonly version?: string | undefined;
  /** The file that says so, or `agentbox.toml`. */
  readonly file: string;
}

/** A toolchain of the host that a box sees, read-only and at the same paths. */
export const Toolchain = z.strictObject({
  language: ToolLanguage,
  manager: z.string().describe("The version manager that it belongs to, or system for one below /usr."),
  version: z.string(),
  directories: z.array(
    z.strictObject({
      source: z.string().describe("Real path on the host."),
      target: z.string().describe("Where the box sees it: the path by which the host's programs know it."),
    }),
  ),
  path: z.array(z.string()).describe("Directories for the PATH."),
  env: z.record(z.string(), z.string()),
});
export type Toolchain = z.infer<typeof Toolchain>;

const toolchainStates = ["shown", "offered", "system", "missing"] as const;

/** One toolchain of a project, as far as this host has it. */
export const ToolchainOffer = z.object({
  language: ToolLanguage,
  wanted: z.string().optional().describe("The version that the file names."),
  file: z.string().describe("The file that asks for it."),
  state: z
    .enum(toolchainStates)
    .describe(
      "shown: a box gets it; offered: after a yes; system: the host's own below /usr; missing: not on this host.",
    ),
  toolchain: Toolchain.optional(),
  digest: z.string().optional().describe("What a yes names."),
  installed: z.array(z.string()).describe("Versions that the host has of it."),
});
export type ToolchainOffer = z.infer<typeof ToolchainOffer>;
