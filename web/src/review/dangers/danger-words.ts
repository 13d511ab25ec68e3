import type { Danger, DangerKind } from "../../../../src/contract/review/danger.ts";

/** The label of each kind of danger. */
export const dangerWords = {
  hook: "Hooks that run on your machine",
  ci: "What CI runs",
  package_script: "Scripts of packages",
  lockfile_source: "Where packages come from",
  editor_task: "Tasks of editors",
  shell_rc: "Files a shell runs",
  agent_settings: "Settings of agents",
  build_file: "Files a build runs",
  container_file: "Containers",
  executable: "Programs",
  symlink: "Symbolic links",
  submodule: "Other repositories",
  git_settings: "Settings of git",
  hidden_text: "Text that hides itself",
  large_binary: "Large binary files",
  secret: "Secrets",
  manifest: "What boxes may do",
  path_trick: "Names that deceive",
  dependency: "New packages",
  code_directive: "Source that gives tools orders",
  unreadable: "Unreadable code",
  unfamiliar: "Unfamiliar files that may run",
  installed: "Directories that a tool filled",
  commit: "What commits say",
} as const satisfies Record<DangerKind, string>;

/** Kinds in the order they come, each with its dangers. */
export function byKind(dangers: readonly Danger[]): [DangerKind, Danger[]][] {
  const groups = new Map<DangerKind, Danger[]>();
  for (const danger of dangers) {
    const group = groups.get(danger.kind);
    if (group === undefined) groups.set(danger.kind, [danger]);
    else group.push(danger);
  }
  return [...groups];
}
