/** Takes a merge back exactly, or refuses and says what has changed since. */
import type { MergeRecord } from "../../contract/review/merge.ts";
import { changesBetween } from "./changed-paths.ts";
import { cannotUndo } from "./failure.ts";
import { land } from "./landing.ts";
import type { DaemonUser } from "./person.ts";
import { findObstacles } from "./plan-merge.ts";
import { treeOf } from "./result.ts";
import { type MergeTarget, nothingId, openTarget, requireObjectId } from "./target.ts";
import { takeBackUnfinished } from "./unfinished-step.ts";
import { openScratchFor } from "./worktree-scratch.ts";

export async function undoMerge(record: MergeRecord, daemon: DaemonUser): Promise<void> {
  const [before, after] = [requireObjectId(record.before), requireObjectId(record.after)];
  const target = await openTarget(record.projectDir, daemon);
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
