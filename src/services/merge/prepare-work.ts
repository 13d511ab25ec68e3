/**
 * The commits of a merge, made for another destination than the branch that the person is on: they exist in a directory of
 * their own, and the project keeps its HEAD, index and files as they are.
 */
import { join } from "node:path";
import type { MergeOutcome, MergeRequest, Merges } from "../../ports/merge.ts";
import { changesBetween } from "./changed-paths.ts";
import type { Clock } from "../../base/clock.ts";
import { mergeFailed } from "./failure.ts";
import { bringIn, bringOver } from "./objects.ts";
import type { DaemonUser } from "./person.ts";
import { moveBranch, moveReferences, readReference } from "./references.ts";
import { makeResult } from "./result.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import { type MergeTarget, nothingId, readTarget, requireJudged, requireObjectId } from "./target.ts";
import { openScratchFor } from "./worktree-scratch.ts";

export async function prepareWork(
  request: MergeRequest,
  onto: string | undefined,
  options: DaemonUser & { readonly clock: Clock },
): ReturnType<Merges["prepare"]> {
  const made = await makeWork(request, onto, options);
  if ("outcome" in made) return made;
  const { scratch, commit, files } = made;
  return {
    outcome: "prepared",
    gitDir: scratch.gitDir,
    commit,
    files,
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}

export async function keepBranch(
  request: MergeRequest,
  { onto, branch }: { readonly onto: string | undefined; readonly branch: string },
  options: DaemonUser & { readonly clock: Clock },
): Promise<MergeOutcome> {
  const made = await makeWork(request, onto, options);
  if ("outcome" in made) return made;
  const { target, commit, files } = made;
  await using scratch = made.scratch;
  const name = `refs/heads/${branch}`;
  const old = await readReference(target, name);
  if (target.branch === name || (old !== undefined && old !== onto)) {
    const why = target.branch === name ? "is checked out" : "is there already, with other commits";
    throw mergeFailed(
      `The branch ${branch} ${why}; nothing was changed.`,
      "Rename it: git branch -m NEW-NAME",
    );
  }
  await bringOver(scratch, target, commit, onto);
  const before = old ?? nothingId(target);
  await moveReferences(target, `agentbox: merge (${request.mode})`, [
    moveBranch({ branch: name, old: before, new: commit }),
  ]);
  return { outcome: "merged", record: { branch: name, before, after: commit, files, mode: request.mode } };
}

interface Made {
  readonly scratch: ScratchRepository;
  readonly target: MergeTarget;
  readonly commit: string;
  readonly files: number;
}

/** The commits, in a scratch repository that the caller disposes of. */
async function makeWork(
  request: MergeRequest,
  onto: string | undefined,
  options: DaemonUser & { readonly clock: Clock },
): Promise<Made | Extract<MergeOutcome, { outcome: "conflict" | "nothing" }>> {
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
    return { scratch, target, commit, files };
  } finally {
    if (!isKept) await scratch[Symbol.asyncDispose]();
  }
}

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
