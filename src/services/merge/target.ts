/**
 * The repository that work is to land in, as it is now: which branch, which commit. A repository in the middle of
 * something else is refused, because a merge would become part of it.
 */
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { pathKind } from "../../host/files.ts";
import { type HostRepository, findRepository } from "../../host/git-repository.ts";
import { mergeFailed } from "./failure.ts";
import { type GuardedGitOptions, guardedGit } from "./guarded-git.ts";
import { type DaemonUser, type Person, ownerOf } from "./person.ts";
import { type PersonSettings, readPersonSettings } from "./settings.ts";

export interface MergeTarget {
  readonly repository: HostRepository;
  readonly person: Person;
  readonly settings: PersonSettings;
  /** `refs/heads/…`; undefined when HEAD is a commit and no branch. */
  readonly branch: string | undefined;
  /** The commit at HEAD; undefined before the first one. */
  readonly head: string | undefined;
}

/** The files that git leaves behind while it waits for a person to go on. */
const unfinished: Readonly<Record<string, string>> = {
  MERGE_HEAD: "a merge",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase",
  BISECT_START: "a bisect",
  sequencer: "a series of cherry-picks",
};

export async function openTarget(projectDir: string, daemon: DaemonUser): Promise<MergeTarget> {
  const target = await readTarget(projectDir, daemon);
  for (const [name, what] of Object.entries(unfinished)) {
    if ((await pathKind(join(target.repository.gitDir, name))) === undefined) continue;
    throw mergeFailed(
      `The repository ${projectDir} is in the middle of ${what}.`,
      "Finish it or abort it first.",
    );
  }
  return target;
}

/** The same for commands that change nothing there, also in the middle of a merge or a rebase. */
export async function readTarget(projectDir: string, daemon: DaemonUser): Promise<MergeTarget> {
  const repository = await findRepository(projectDir);
  if (repository === undefined) {
    throw mergeFailed(
      `The directory ${projectDir} is not a git repository.`,
      "Run git init there first, or export the work as a patch.",
    );
  }
  const person = await ownerOf(repository.top ?? repository.gitDir, daemon);
  const settings = await readPersonSettings(repository.gitDir, person);
  const target = { repository, person, settings };
  const [branch, head] = await Promise.all([readBranch(target), readCommit(target, "HEAD")]);
  return { ...target, branch, head };
}

type Opened = Pick<MergeTarget, "repository" | "person">;

/** Commands that read or move references; they see the repository's own config, and run nothing it names. */
export const referenceOptions = ({ repository: { gitDir }, person }: Opened): GuardedGitOptions => ({
  gitDir,
  cwd: gitDir,
  person,
  config: { "core.alternateRefsCommand": "false", "gpg.program": "false" },
});

export async function readBranch(target: Opened): Promise<string | undefined> {
  const { code, stdout } = await guardedGit(["symbolic-ref", "--quiet", "HEAD"], referenceOptions(target));
  return code === 0 ? stdout.trimEnd() : undefined;
}

async function readCommit(target: Opened, name: string): Promise<string | undefined> {
  const args = ["rev-parse", "--quiet", "--verify", "--end-of-options", `${name}^{commit}`];
  const { code, stdout } = await guardedGit(args, referenceOptions(target));
  return code === 0 ? stdout.trim() : undefined;
}

/** The branch as a name in a command for git; it comes from the repository. */
export function requireBranch({ branch, repository }: MergeTarget): string {
  if (branch?.startsWith("refs/heads/")) return branch;
  throw mergeFailed(
    `The repository ${repository.top ?? repository.gitDir} is on no branch.`,
    "Switch to a branch with git switch, or merge with the mode patch.",
  );
}

/** SECURITY: on another commit the same work makes another tree, which has not been judged. */
export function requireJudged(judged: { readonly head: string | undefined }, { head }: MergeTarget): void {
  if (judged.head === head) return;
  throw mergeFailed("Your branch has moved while the work was judged; nothing was changed.", "Try again.");
}

const isObjectId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** SECURITY: an id becomes an argument of git, where a text could be an option or a range. */
export function requireObjectId(text: string): string {
  if (isObjectId(text)) return text;
  throw new AgentBoxError("merge.failed", "The commit to merge is not a commit id.", {
    hint: "Take a new checkpoint and try again.",
  });
}

/** How git writes "there is nothing". */
export const nothingId = ({ settings }: Pick<MergeTarget, "settings">): string =>
  "0".repeat(settings.isSha256 ? 64 : 40);
