import { z } from "zod";

/** A change that will execute on the host or in CI, or widen an agent's power, once it is merged. */
export const DangerKind = z.enum([
  "hook",
  "ci",
  "package_script",
  "lockfile_source",
  "editor_task",
  "shell_rc",
  "agent_settings",
  "build_file",
  "container_file",
  "executable",
  "symlink",
  "submodule",
  "git_settings",
  "hidden_text",
  "large_binary",
  "secret",
  "manifest",
  "path_trick",
  /** A package that a list did not name before, or another under its name. */
  "dependency",
  /** Source that a compiler, a generator or an interpreter takes for an order. */
  "code_directive",
  /** Code whose diff cannot be read: copied, built or generated. */
  "unreadable",
  /** May run: no rule knows it, and it is not known to do nothing by itself. */
  "unfamiliar",
  /** A whole new directory of dependencies or of build products, which is asked about once. */
  "installed",
  "commit",
]);
export type DangerKind = z.infer<typeof DangerKind>;

export const Danger = z.object({
  kind: DangerKind,
  path: z.string(),
  /** In the new content, from 1. */
  line: z.int().min(1).optional(),
  /** One sentence: what will happen, and when. Never the secret itself. */
  why: z.string(),
});
export type Danger = z.infer<typeof Danger>;
