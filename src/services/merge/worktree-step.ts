/**
 * Brings the person's files and index from one tree to another. A path that both trees have alike stays as the person
 * has it; git itself refuses, before it touches anything, where one that differs is not as the first tree has it.
 */
import { join } from "node:path";
import type { RunResult } from "../../host/run.ts";
import { copyIndex } from "./in-the-way.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import type { MergeTarget } from "./target.ts";

export interface TreeStep {
  readonly from: string;
  readonly to: string;
}

export async function moveFiles(
  scratch: ScratchRepository,
  target: MergeTarget,
  step: TreeStep,
): Promise<RunResult> {
  const index = join(target.repository.gitDir, "index");
  await refreshIndex(scratch, target, index);
  return await readTree(scratch, target, index, step);
}

/** Asks git whether it would do it, on a copy of the index. Undefined when it would. */
export async function findRefusal(
  scratch: ScratchRepository,
  target: MergeTarget,
  step: TreeStep,
): Promise<RunResult | undefined> {
  if (target.repository.top === undefined) return undefined;
  const index = join(scratch.gitDir, "index-try");
  await copyIndex(scratch, target.repository.gitDir, "index-try");
  await refreshIndex(scratch, target, index);
  const result = await readTree(scratch, target, index, step, ["-n"]);
  return result.code === 0 ? undefined : result;
}

/** A file that was only touched, or copied with its repository, is not a changed one. */
export const refreshIndex = (
  scratch: ScratchRepository,
  target: MergeTarget,
  index: string,
): Promise<RunResult> => scratch.git(["update-index", "-q", "--refresh"], withIndex(target, index));

export const withIndex = ({ repository: { top } }: MergeTarget, index: string) => ({
  env: { GIT_INDEX_FILE: index, GIT_WORK_TREE: top! },
  cwd: top!,
});

function readTree(
  scratch: ScratchRepository,
  target: MergeTarget,
  index: string,
  { from, to }: TreeStep,
  flags: readonly string[] = [],
): Promise<RunResult> {
  const args = ["read-tree", ...flags, "-m", "-u", "--no-recurse-submodules", from, to];
  return scratch.git(args, withIndex(target, index));
}
