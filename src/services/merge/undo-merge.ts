/** Takes a merge back exactly, or refuses and says what has changed since. */
import type { MergeRecord } from "../../contract/review/merge.ts";
import { changesBetween } from "./changed-paths.ts";
import { cannotUndo } from "./failure.ts";
import { land } from "./landing.ts";
import type { DaemonUser } from "./person.ts";
import { findObstacles } from "./plan-merge.ts";
import { type BranchMove, moveBranch, moveReferences, readReference } from "./references.ts";
import { treeOf } from "./result.ts";
import { type MergeTarget, nothingId, openTarget, requireObjectId } from "./target.ts";
import { takeBackUnfinished } from "./unfinished-step.ts";
import { openScratchFor } from "./worktree-scratch.ts";

export async function undoMerge(record: MergeRecord, daemon: DaemonUser): Promise<void> {
  const [before, after] = [requireObjectId(record.before), requireObjectId(record.after)];
  const target = await openTarget(record.projectDir, daemon);
  const { branch } = record;
  if (branch?.startsWith(keptBranches) && branch !== target.branch)
    return undoKept(target, { branch, old: after, new: before });
  await using scratch = await openScratchFor(target, daemon);
  await takeBackUnfinished(scratch, target);
  const isFirst = before === nothingId(target);
  if (record.branch !== undefined) requireUnmoved(target, record.branch, after);
  const [from, to] = [await treeOf(scratch, after), await treeOf(scratch, isFirst ? undefined : before)];
  const changes = await changesBetween(scratch, from, to);
  const paths = await findObstacles(scratch, target, { from, to }, changes);
  if (paths.length > 0) {
    throw cannotUndo(
      `${paths.length === 1 ? "A file was" : `${paths.length} files were`} changed since the merge.`,
      "Commit, stash or revert these changes first; what was merged stays as it is.",
      paths,
    );
  }
  const move =
    record.branch === undefined ? {} : { move: { branch: record.branch, old: after, new: before } };
  await land(scratch, target, { from, to, ...move, reason: "agentbox: merge undone" });
}

/** Of boxes that work in the person's own directory: such a branch was made beside the one they are on. */
const keptBranches = "refs/heads/agentbox/";

async function undoKept(target: MergeTarget, move: BranchMove): Promise<void> {
  if ((await readReference(target, move.branch)) !== move.old)
    throw cannotUndo(
      `The branch ${move.branch.replace(/^refs\/heads\//, "")} has moved on since the merge.`,
      "Remove it by hand when you do not want it: git branch -D NAME",
    );
  await moveReferences(target, "agentbox: merge undone", [moveBranch(move)]);
}

function requireUnmoved(target: MergeTarget, branch: string, after: string): void {
  if (target.branch !== branch) {
    const name = branch.replace(/^refs\/heads\//, "");
    throw cannotUndo(
      `The branch ${name} is not the one that is checked out.`,
      `Switch to it: git switch ${name}`,
    );
  }
  if (target.head === after) return;
  throw cannotUndo(
    "The branch has moved on since the merge.",
    "Revert the merged commits with git revert; they are the last that can be undone only while nothing follows.",
  );
}
