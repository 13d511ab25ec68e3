/** Moves references of the person's repository, several in one step, each only from the value it is known to have. */
import { guardedGit, guardedGitOk } from "./guarded-git.ts";
import { type MergeTarget, referenceOptions } from "./target.ts";

export interface BranchMove {
  readonly branch: string;
  /** Commits, or zeros for a reference that does not exist. */
  readonly old: string;
  readonly new: string;
}

const isNothing = (id: string): boolean => /^0+$/.test(id);

/** With the old value as the condition: a commit the person has made meanwhile is never lost. */
export const moveBranch = (move: BranchMove): string =>
  isNothing(move.new)
    ? `delete ${move.branch}\0${move.old}\0`
    : `update ${move.branch}\0${move.new}\0${move.old}\0`;

export const setReference = (name: string, id: string): string => `update ${name}\0${id}\0\0`;
export const dropReference = (name: string): string => `delete ${name}\0\0`;

export async function moveReferences(
  target: MergeTarget,
  reason: string,
  commands: readonly string[],
): Promise<void> {
  if (commands.length === 0) return;
  const [, name, email] = /^(.*) <(.*)>$/.exec(target.settings.identity)!;
  await guardedGitOk(["update-ref", "-m", reason, "--stdin", "-z"], {
    ...referenceOptions(target),
    stdin: commands.join(""),
    env: { GIT_COMMITTER_NAME: name!, GIT_COMMITTER_EMAIL: email! },
  });
}

export async function readReference(target: MergeTarget, name: string): Promise<string | undefined> {
  const args = ["rev-parse", "--quiet", "--verify", "--end-of-options", name];
  const { code, stdout } = await guardedGit(args, referenceOptions(target));
  return code === 0 ? stdout.trim() : undefined;
}
