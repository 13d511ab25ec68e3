/** The work that would be lost with a box: the newest state of its workspace, kept on the host, without what was merged. */
import { AgentBoxError, isAgentBoxError, messageOf } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import { hasOwnGit } from "../../contract/guarded-paths.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import type { UpstreamRecord } from "../../contract/review/upstream.ts";
import type { UnmergedWork } from "../../contract/review/removed.ts";
import { unmergedWords } from "../../contract/review/unmerged-words.ts";
import { takeFrom } from "../review/checkpoint-over-link.ts";
import { actAtRest } from "../review/quiet-box.ts";
import { baseOf, checkpointsOf, reviewOf } from "../review/review-of.ts";
import type { LookParts, Using } from "../using.ts";

/** A box that does not answer does not keep a person from removing it. */
const patienceMs = 60_000;

export interface LookedAtWork {
  readonly unmerged: UnmergedWork;
  readonly checkpoints: readonly Checkpoint[];
  readonly upstream: readonly UpstreamRecord[];
}

const noWork: LookedAtWork = {
  unmerged: { files: 0, added: 0, deleted: 0, commits: 0 },
  checkpoints: [],
  upstream: [],
};

/** The caller holds the box's lock. A paused box goes on for a moment only when it is about to be removed anyway. */
export async function lookAtUnmerged(
  core: Using<LookParts>,
  box: Box,
  { mayResume = false }: { readonly mayResume?: boolean } = {},
): Promise<LookedAtWork> {
  // A mounted workspace is the person's directory itself, and stays; the box's own commits do not.
  const isMounted = box.spec.workspace.mode === "mount";
  if ((isMounted && !hasOwnGit(box)) || isHalfThere(box)) return noWork;
  const problem = await takeNewest(core, box, mayResume);
  const checkpoints = await checkpointsOf(core, box);
  const last = checkpoints.at(-1);
  if (!last) return { ...noWork, unmerged: { ...noWork.unmerged, ...omitUndefined({ problem }) } };
  const repository = await reviewOf(core, box);
  const base = await baseOf(core, box, repository);
  const [totals, commits] = await Promise.all([
    repository.totals(base, last.commit),
    repository.commits(base, last.head),
  ]);
  const unmerged = {
    ...(isMounted && commits.length === 0 ? noWork.unmerged : totals),
    commits: totals.files === 0 ? 0 : commits.length,
    ...omitUndefined({ problem }),
  };
  const upstream = await core.ports.store.listReview("upstream", { incarnation: box.incarnation });
  return { unmerged, checkpoints, upstream };
}

const isHalfThere = ({ state }: Box): boolean => state.phase === "creating" || state.phase === "removing";

/** Says why the newest state could not be had; what was kept before is still there. */
async function takeNewest(core: Using<LookParts>, box: Box, mayResume: boolean): Promise<string | undefined> {
  const { clock } = core.ports;
  const tooLong = new Promise<string>((resolve) =>
    clock.after(patienceMs, () => resolve("the box did not answer in time")),
  );
  try {
    return await Promise.race([take(core, box, mayResume), tooLong]);
  } catch (error) {
    // Its directories are gone, or it never had any: there is nothing that could be lost any more.
    if (isAgentBoxError(error, "file.not_found")) return undefined;
    return messageOf(error);
  }
}

async function take(core: Using<LookParts>, box: Box, mayResume: boolean): Promise<undefined> {
  const { phase } = box.state;
  if (phase === "stopped" || phase === "failed") {
    if (!(await hasRunSince(core, box))) return undefined;
    await actAtRest(core, box, (link) => takeFrom(core, box, link, { reason: "review" }));
    return undefined;
  }
  if (phase === "paused") {
    if (!mayResume) throw new AgentBoxError("box.wrong_phase", "the box is paused");
    await (await core.ports.runtimes.get(box.spec.runtime)).resume(box.name);
  }
  const link = core.live.get(box.name)?.link;
  if (!link?.isConnected) throw new AgentBoxError("box.unreachable", "the box is not connected");
  await takeFrom(core, box, link, { reason: "review" });
  return undefined;
}

/** Whether anything could have changed since the newest checkpoint: nothing runs in a box at rest. */
async function hasRunSince(core: Using<"store">, box: Box): Promise<boolean> {
  const last = (await checkpointsOf(core, box)).at(-1);
  if (last !== undefined && last.atMs >= box.state.sinceMs) return false;
  return box.startedAtMs !== undefined || box.spec.services.length > 0;
}

/** Refuses to lose work that a person may still want. */
export function requireMerged({ name }: Box, { unmerged }: LookedAtWork, keepDays: number): void {
  const { files, problem } = unmerged;
  if (files === 0 && problem === undefined) return;
  const kept = keepDays > 0 ? ` It is kept for ${keepDays} days.` : "";
  throw new AgentBoxError(
    "review.unmerged",
    files === 0
      ? `The work in "${name}" cannot be looked at: ${problem}.`
      : `The box "${name}" has unmerged work: ${unmergedWords(unmerged)}.`,
    {
      hint: `See it: agentbox diff ${name}. Remove it all the same: agentbox rm --force ${name}.${kept}`,
      facts: { box: name, ...unmerged },
    },
  );
}
