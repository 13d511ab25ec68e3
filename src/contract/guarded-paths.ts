import type { Box } from "./box.ts";

/**
 * The paths that a box may not change in a directory of the host that it works in directly, nor make where they are
 * absent.
 */

export interface GuardedEntry {
  /** A name in the top of the workspace. */
  readonly name: string;
  /** Its stand-in while it is absent: an empty directory, or a file with this text. */
  readonly standIn: "directory" | { readonly text: string };
}

const directory = "directory";
const names = (standIn: GuardedEntry["standIn"], list: readonly string[]): GuardedEntry[] =>
  list.map((name) => ({ name, standIn }));

/**
 * The host executes these, or takes orders from them. `.git` as a whole: with `commondir`, or with a submodule in the
 * index, a box gets host git to read a config of its own; guarding hooks and config alone would not stop that.
 * Directories where possible, because git does not see an empty one. Instructions such as CLAUDE.md or AGENTS.md
 * are text, are read from every directory, and are left to review.
 */
export const guardedEntries: readonly GuardedEntry[] = [
  ...names(directory, [".git", ".husky", ".githooks"]),
  ...names(directory, [".vscode", ".idea", ".zed", ".fleet", ".devcontainer"]),
  ...names(directory, [".claude", ".cursor", ".codex", ".gemini", ".qwen", ".opencode"]),
  ...names(directory, [".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile"]),
  ...names(directory, [".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"]),
  ...names(directory, [".tool-versions", "mise.toml", ".mise.toml", ".mise", ".pre-commit-config.yaml"]),
  // Readers of these do not expect a directory and would not start.
  { name: ".mcp.json", standIn: { text: '{"mcpServers":{}}\n' } },
  { name: "opencode.json", standIn: { text: "{}\n" } },
  { name: "agentbox.toml", standIn: { text: "version = 1\n" } },
  { name: "agentbox.lock", standIn: { text: '{"version":1,"agents":{}}\n' } },
];

/**
 * With a HEAD beside `objects` and `refs`, git takes a directory for a repository, and orders from its `config`. Guarded where
 * the workspace has no repository of its own: there it would come in the way of `git show HEAD`.
 */
export const bareRepositoryEntry: GuardedEntry = { name: "HEAD", standIn: directory };

/** Guarded where they are; not every such name can be kept from being made. */
export const guardedSuffixes: readonly string[] = [".code-workspace"];

/** Stand-ins that git would list as new files: each is hidden from it while they are there. */
export const visibleStandIns: readonly string[] = guardedEntries
  .filter(({ standIn }) => standIn !== directory)
  .map(({ name }) => name);

/** Whether the box has a git directory of its own over a mounted workspace: then it commits, and its work can be reviewed. */
export const hasOwnGit = ({ spec, baseCommit }: Pick<Box, "spec" | "baseCommit">): boolean =>
  spec.workspace.mode === "mount" && baseCommit !== undefined;

/** What a runtime keeps closed in the workspace of a box; `ownDir` is the box's own directory for it. */
export const guardOf = (box: Pick<Box, "spec" | "baseCommit">, ownDir: string) =>
  box.spec.workspace.mode === "mount"
    ? {
        entries: guardedEntries,
        suffixes: guardedSuffixes,
        ...(hasOwnGit(box) ? { ownGit: `${ownDir}/.git` } : {}),
      }
    : undefined;

/** What a person is told about a workspace that is their own directory. */
export const guardWords = (box: Pick<Box, "name" | "spec" | "baseCommit">): readonly string[] =>
  box.spec.workspace.mode === "mount"
    ? [
        `The box works in your directory itself. Closed to it there: .git, hooks, settings of editors, shells and agents, agentbox.toml (${guardedEntries.length} names). While it lives, empty stand-ins keep the absent ones taken.`,
        hasOwnGit(box)
          ? `Its commits go into a git directory of its own; bring them as the branch agentbox/${box.name}: agentbox merge ${box.name}`
          : "It cannot commit there; where it should, use --workspace clone.",
      ]
    : [];
