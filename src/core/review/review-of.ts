/** The review repository of a box, made when it is first needed. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import { hasOwnGit } from "../../contract/guarded-paths.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import type { ReviewRepository } from "../../ports/review.ts";
import type { Using } from "../using.ts";

export async function reviewOf(core: Using<"reviews" | "storage">, box: Box): Promise<ReviewRepository> {
  requireReviewable(box);
  const dir = core.ports.storage.reviewDir(box.name);
  const { mode, source } = box.spec.workspace;
  const existing = await core.ports.reviews.open(dir);
  if (existing) return existing;
  return core.ports.reviews.create({
    dir,
    ...((mode === "clone" || hasOwnGit(box)) && source !== undefined ? { borrow: source } : {}),
    ...omitUndefined({ baseCommit: box.baseCommit }),
  });
}

/**
 * A mounted workspace is the person's directory itself: what is done there is done. With a git directory of the box's own,
 * its commits can still be looked at and brought over.
 */
export function requireReviewable(box: Box): void {
  if (box.spec.workspace.mode !== "mount" || hasOwnGit(box)) return;
  throw new AgentBoxError("review.unavailable", `The box "${box.name}" works on your directory itself.`, {
    hint: "Look at it with git diff there; boxes with a clone or a copy can be reviewed.",
  });
}

/** What would change the files of a box's workspace on the host's behalf. */
export function requireOwnFiles({ name, spec }: Box): void {
  if (spec.workspace.mode !== "mount") return;
  throw new AgentBoxError("review.unavailable", `The files of "${name}" are your directory itself.`, {
    hint: `Start a box from that state: agentbox checkpoints ${name} CHECKPOINT --fork NAME`,
  });
}

/** Whether the box's work is in a repository in its workspace, as a clone's is. */
export const hasRepository = (box: Pick<Box, "spec" | "baseCommit">): boolean =>
  box.spec.workspace.mode === "clone" || hasOwnGit(box);

export const checkpointsOf = (core: Using<"store">, { incarnation }: Box): Promise<readonly Checkpoint[]> =>
  core.ports.store.listReview("checkpoint", { incarnation });

/**
 * The state that the box's work is compared with: the branch that the agent has rebased onto, the last merge, or the first
 * state, which is its commit or that with the person's own uncommitted work in it.
 */
export async function baseOf(core: Using<"store">, box: Box, repository: ReviewRepository): Promise<string> {
  return (await upstreamOf(core, box, repository)) ?? firstBaseOf(core, box, repository);
}

/** SECURITY: only a commit that was brought in from the host, and only while the work really stands on it. */
export async function upstreamOf(
  core: Using<"store">,
  box: Box,
  repository: ReviewRepository,
): Promise<string | undefined> {
  const { incarnation } = box;
  const upstream = (await core.ports.store.listReview("upstream", { incarnation })).at(-1);
  if (upstream === undefined) return undefined;
  const merges = await core.ports.store.listReview("merge", { incarnation });
  if (merges.some(({ isUndone, atMs }) => !isUndone && atMs > upstream.atMs)) return undefined;
  const head = (await checkpointsOf(core, box)).at(-1)?.head;
  if (head === undefined) return undefined;
  // The person may have rewritten their branch, and git has thrown away what nothing named.
  if (!(await isThere(repository, upstream.commit))) return undefined;
  const missing = await repository.commits(head, upstream.commit);
  return missing.length === 0 ? upstream.commit : undefined;
}

const isThere = (repository: ReviewRepository, commit: string): Promise<boolean> =>
  repository.treeOf(commit).then(
    () => true,
    () => false,
  );

async function firstBaseOf(core: Using<"store">, box: Box, repository: ReviewRepository): Promise<string> {
  const merges = await core.ports.store.listReview("merge", { incarnation: box.incarnation });
  const merged = merges.findLast(({ isUndone }) => !isUndone);
  if (merged) return merged.commit;
  const carried = (await checkpointsOf(core, box)).find(({ reason }) => reason === "base");
  return carried?.commit ?? repository.base;
}

/** `base`, `latest`, a number or a name → a commit of the review repository. */
export async function resolveCheckpoint(
  core: Using<"store">,
  box: Box,
  repository: ReviewRepository,
  wanted: string,
): Promise<{ readonly commit: string; readonly checkpoint?: Checkpoint }> {
  if (wanted === "base") return { commit: await baseOf(core, box, repository) };
  const all = await checkpointsOf(core, box);
  const checkpoint =
    wanted === "latest"
      ? all.at(-1)
      : (all.findLast(({ name }) => name === wanted) ?? all.find(({ number }) => String(number) === wanted));
  if (checkpoint) return { commit: checkpoint.commit, checkpoint };
  if (wanted === "latest") return { commit: await baseOf(core, box, repository) };
  throw new AgentBoxError(
    "checkpoint.not_found",
    `The box "${box.name}" has no checkpoint "${wanted.slice(0, 64)}".`,
    {
      hint: `List them: agentbox checkpoints ${box.name}`,
    },
  );
}

/**
 * The commit that the work follows: what the box began with, or what was merged of it since. Not the person's branch
 * of today, or a push would take their own unpublished commits along that the agent never saw.
 */
export async function beginning(core: Using<"store">, box: Box): Promise<string | undefined> {
  const merges = await core.ports.store.listReview("merge", { incarnation: box.incarnation });
  const merged = merges.findLast(({ isUndone, branch }) => !isUndone && branch !== undefined);
  return merged?.after ?? box.baseCommit;
}
