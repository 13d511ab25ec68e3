/**
 * The commits of a merge, made for another destination than the project: they exist in a directory of their own, and the project
 * keeps its branches, index, files and objects as they are.
 */
import { join } from "node:path";
import type { MergeRequest, Merges, PreparedWork } from "../../ports/merge.ts";
import { changesBetween } from "./changed-paths.ts";
import type { Clock } from "../../base/clock.ts";
import { bringIn } from "./objects.ts";
import type { DaemonUser } from "./person.ts";
import { makeResult } from "./result.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import { readTarget, requireJudged, requireObjectId } from "./target.ts";
import { openScratchFor } from "./worktree-scratch.ts";

export async function prepareWork(
  request: MergeRequest,
  onto: string | undefined,
  options: DaemonUser & { readonly clock: Clock },
): ReturnType<Merges["prepare"]> {
  const found = await readTarget(request.projectDir, options);
  if (request.judged && onto === undefined) requireJudged(request.judged, found);
  const target = { ...found, head: onto === undefined ? found.head : requireObjectId(onto) };
  const scratch = await openScratchFor(target, options);
  let isKept = false;
  try {
    // Without it git takes the end of a shallow history for damage.
    await scratch.copyIn(join(target.repository.commonDir, "shallow"), "shallow");
    await bringIn(scratch, request.reviewGitDir, {
      base: request.base,
      tips: await tipsOf(scratch, request, onto),
    });
    const result = await makeResult(scratch, target, request, options.clock.nowMs());
    if ("conflicts" in result) return { outcome: "conflict", conflicts: result.conflicts };
    const { before, tree, commit } = result;
    if (commit === undefined) return { outcome: "nothing" };
    const files = (await changesBetween(scratch, before, tree)).length;
    isKept = true;
    return prepared(scratch, commit, files);
  } finally {
    if (!isKept) await scratch[Symbol.asyncDispose]();
  }
}

const prepared = (scratch: ScratchRepository, commit: string, files: number): PreparedWork => ({
  outcome: "prepared",
  gitDir: scratch.gitDir,
  commit,
  files,
  [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
});

/** The project may have lost the commit that the box began with; the review still has it. */
export async function tipsOf(
  scratch: ScratchRepository,
  request: MergeRequest,
  onto: string | undefined,
): Promise<string[]> {
  const tips = [request.commit, request.head];
  if (onto === undefined) return tips;
  const isThere = (await scratch.git(["cat-file", "-e", `${requireObjectId(onto)}^{commit}`])).code === 0;
  return isThere ? tips : [...tips, onto];
}
