import { z } from "zod";

/** What will execute on the host or in CI, or widen an agent's power, once it is merged. */
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
  /** May run: no rule knows it, and it is not known to do nothing by itself. */
  "unfamiliar",
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
