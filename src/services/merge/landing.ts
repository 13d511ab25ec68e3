/**
 * Does a step in the person's repository, all of it or nothing: first a note of it, then files and index, then the
 * branch, which moves together with the note's going.
 */
import { join } from "node:path";
import { pathKind } from "../../host/files.ts";
import { gitStepFailed, mergeFailed } from "./failure.ts";
import { type BranchMove, moveBranch, moveReferences } from "./references.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import { type MergeTarget, readBranch } from "./target.ts";
import { dropNote, takeBack, writeNote } from "./unfinished-step.ts";
import { type TreeStep, moveFiles } from "./worktree-step.ts";

export interface Step extends TreeStep {
  /** Absent when only files change. */
  readonly move?: BranchMove;
  readonly reason: string;
}

export async function land(scratch: ScratchRepository, target: MergeTarget, step: Step): Promise<void> {
  const { gitDir, top } = target.repository;
  const moves = step.move === undefined ? [] : [moveBranch(step.move)];
  if (top === undefined) return await moveReferences(target, step.reason, moves);
  if ((await pathKind(join(gitDir, "index.lock"))) !== undefined) {
    throw mergeFailed(
      "Another git command is at work in the repository.",
      "Wait for it, or remove the file index.lock that it left behind.",
    );
  }
  await moveReferences(target, step.reason, writeNote(target, step));
  try {
    const result = await moveFiles(scratch, target, step);
    if (result.code !== 0) throw gitStepFailed("read-tree", result);
    if ((await readBranch(target)) !== target.branch)
      throw mergeFailed("Another branch was checked out meanwhile; nothing was changed.", "Try again.");
    await moveReferences(target, step.reason, [...moves, ...dropNote(target)]);
  } catch (error) {
    await takeBack(scratch, target, step);
    await moveReferences(target, step.reason, dropNote(target));
    throw error;
  }
}
