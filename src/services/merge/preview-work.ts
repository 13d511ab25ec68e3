/**
 * The result that a merge would have, to be judged before it lands. It exists in a scratch repository of its own, which
 * is removed once it has been read; the project is not changed, and may be in the middle of a merge or a rebase.
 */
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { MergePreview, MergeRequest, MergeTip } from "../../ports/merge.ts";
import { guardedGit } from "./guarded-git.ts";
import { bringIn } from "./objects.ts";
import type { DaemonUser } from "./person.ts";
import { tipsOf } from "./prepare-work.ts";
import { makeResult } from "./result.ts";
import { type MergeTarget, readTarget, referenceOptions, requireObjectId } from "./target.ts";
import { openScratchFor } from "./worktree-scratch.ts";

/** Undefined where there is no repository that could be merged into. */
export async function readTip(
  projectDir: string,
  onto: string | undefined,
  daemon: DaemonUser,
): Promise<MergeTip | undefined> {
  const target = await readTarget(projectDir, daemon).catch(() => undefined);
  if (target === undefined) return undefined;
  const head = onto === undefined ? target.head : requireObjectId(onto);
  const { identity } = target.settings;
  const branch = target.branch?.replace(/^refs\/heads\//, "");
  const names = omitUndefined({ branch, remoteBranch: await remoteBranchOf(target) });
  if (head === undefined) return { identity, ...names };
  const args = ["rev-parse", "--verify", "--end-of-options", `${head}^{tree}`];
  const { code, stdout } = await guardedGit(args, referenceOptions(target));
  return { identity, head, ...names, ...(code === 0 ? { tree: stdout.trim() } : {}) };
}

async function remoteBranchOf(target: MergeTarget): Promise<string | undefined> {
  const args = ["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"];
  const { code, stdout } = await guardedGit(args, referenceOptions(target));
  return code === 0 ? /^refs\/remotes\/origin\/(.+)$/.exec(stdout.trim())?.[1] : undefined;
}

/** Undefined when it conflicts, or changes nothing. */
export async function previewWork(
  request: MergeRequest,
  onto: string | undefined,
  options: DaemonUser & { readonly clock: Clock },
): Promise<MergePreview | undefined> {
  const found = await readTarget(request.projectDir, options);
  const target = { ...found, head: onto === undefined ? found.head : requireObjectId(onto) };
  const scratch = await openScratchFor(target, options);
  let isKept = false;
  try {
    await scratch.copyIn(join(target.repository.commonDir, "shallow"), "shallow");
    const tips = await tipsOf(scratch, request, onto);
    await bringIn(scratch, request.reviewGitDir, { base: request.base, tips });
    const result = await makeResult(scratch, target, request, options.clock.nowMs());
    if ("conflicts" in result || result.tree === result.before) return undefined;
    isKept = true;
    const { user } = target.person;
    return {
      source: { gitDir: scratch.gitDir, ...omitUndefined({ user }) },
      before: result.before,
      after: result.tree,
      commits: result.made,
      [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
    };
  } finally {
    if (!isKept) await scratch[Symbol.asyncDispose]();
  }
}
