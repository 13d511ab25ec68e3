/**
 * Merges trees without an index or a file: the changes from `base` to `theirs` are applied to `ours`. The base is
 * given, independently of the histories, so work lands also after a rebase and where there is no history.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { MergeConflict } from "../../contract/review/merge.ts";
import { writeCommit } from "./commit-object.ts";
import { readConflicts } from "./conflicts.ts";
import { gitStepFailed } from "./failure.ts";
import type { ScratchRepository } from "./scratch-repository.ts";

export interface ThreeTrees {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export type MergedTree = { readonly tree: string } | { readonly conflicts: readonly MergeConflict[] };

export async function mergeTrees(
  scratch: ScratchRepository,
  { base, ours, theirs }: ThreeTrees,
  worktree: Readonly<Record<string, string>>,
): Promise<MergedTree> {
  if (ours === base || ours === theirs) return { tree: theirs };
  if (theirs === base) return { tree: ours };
  const [left, right] = await siblings(scratch, { base, ours, theirs });
  const result = await scratch.git(["merge-tree", "--write-tree", "-z", "--messages", left, right], {
    // Attributes such as `-merge` and `merge=union` are those of the files the person has now.
    env: worktree,
    ...omitUndefined({ cwd: worktree["GIT_WORK_TREE"] }),
  });
  if (result.code === 0) return { tree: result.stdout.slice(0, result.stdout.indexOf("\0")) };
  if (result.code === 1) return { conflicts: await readConflicts(scratch, result.stdout) };
  throw gitStepFailed("merge-tree", result);
}

/** Two commits that have nothing in common but the base: git finds its base by history only. They stay in the room. */
async function siblings(
  scratch: ScratchRepository,
  { base, ours, theirs }: ThreeTrees,
): Promise<readonly [string, string]> {
  const nobody = "agentbox <agent@agentbox.invalid> 0 +0000";
  const commit = (tree: string, parents: readonly string[], message: string) =>
    writeCommit(scratch, { tree, parents, author: nobody, committer: nobody, message });
  const root = await commit(base, [], "base\n");
  return [await commit(ours, [root], "ours\n"), await commit(theirs, [root], "theirs\n")];
}
