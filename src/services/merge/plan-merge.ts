/**
 * The plan of a merge: the step that lands it, or the reasons against it. Changes nothing outside the scratch
 * repository.
 */
import type { RunResult } from "../../host/run.ts";
import type { MergeOutcome, MergeRequest } from "../../ports/merge.ts";
import { caseCollisions } from "./case-collisions.ts";
import { type ChangedPath, changesBetween, isThere } from "./changed-paths.ts";
import { asText, gitStepFailed, mergeFailed } from "./failure.ts";
import { findInTheWay } from "./in-the-way.ts";
import type { Step } from "./landing.ts";
import { bringIn } from "./objects.ts";
import { makeResult } from "./result.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import { type MergeTarget, nothingId, requireBranch, requireJudged } from "./target.ts";
import { type TreeStep, findRefusal } from "./worktree-step.ts";
import { join } from "node:path";

/** Which paths a filter of the person's would have changed on their way to the disk. It asks; it runs none. */
async function findUnfiltered(
  scratch: ScratchRepository,
  { repository: { top }, settings: { filters } }: MergeTarget,
  tree: string,
  changes: readonly ChangedPath[],
): Promise<readonly string[]> {
  if (top === undefined || filters.size === 0) return [];
  const env = { GIT_INDEX_FILE: join(scratch.gitDir, "index-attributes"), GIT_WORK_TREE: top };
  await scratch.ok(["read-tree", tree], { env });
  const paths = changes.filter(({ newMode }) => isThere(newMode)).map(({ path }) => `${path}\0`);
  const args = ["check-attr", "--cached", "-z", "--stdin", "filter"];
  const fields = (
    await scratch.ok(args, { env, cwd: top, stdin: Buffer.from(paths.join(""), "latin1") })
  ).split("\0");
  const found: string[] = [];
  for (let i = 0; i + 2 < fields.length; i += 3)
    if (filters.has(fields[i + 2]!)) found.push(asText(fields[i]!));
  return found;
}

const maxPathsShown = 1_000;
const maxPathBytes = 4_095;

export type Planned =
  | { readonly step: Step; readonly merged: MergeOutcome }
  | Exclude<MergeOutcome, { outcome: "merged" }>;

export async function planMerge(
  scratch: ScratchRepository,
  target: MergeTarget,
  request: MergeRequest,
  nowMs: number,
): Promise<Planned> {
  const { mode } = request;
  if (request.judged) requireJudged(request.judged, target);
  const branch = mode === "patch" ? undefined : requireBranch(target);
  if (mode === "patch" && target.repository.top === undefined)
    throw mergeFailed("A bare repository has no files to change.", "Merge with the mode squash or commits.");
  await bringIn(scratch, request.reviewGitDir, { base: request.base, tips: [request.commit, request.head] });
  const result = await makeResult(scratch, target, request, nowMs);
  if ("conflicts" in result) return { outcome: "conflict", conflicts: result.conflicts };
  const { before, tree, commit } = result;
  if (tree === before) return { outcome: "nothing" };
  const changes = await changesBetween(scratch, before, tree);
  await refuseUnwritable(scratch, target, tree, changes);
  const obstacles = await findObstacles(scratch, target, { from: before, to: tree }, changes);
  if (obstacles.length > 0) return { outcome: "dirty", paths: obstacles };
  const unfiltered = await findUnfiltered(scratch, target, tree, changes);
  const old = target.head ?? nothingId(target);
  const move = branch === undefined ? {} : { move: { branch, old, new: commit! } };
  const moved = branch === undefined ? { before, after: tree } : { branch, before: old, after: commit! };
  return {
    step: { from: before, to: tree, ...move, reason: `agentbox: merge (${mode})` },
    merged: {
      outcome: "merged",
      record: { ...moved, files: changes.length, mode },
      ...(unfiltered.length > 0 ? { unfiltered } : {}),
    },
  };
}

/** Paths of the person's own work that the step would have to change. */
export async function findObstacles(
  scratch: ScratchRepository,
  target: MergeTarget,
  step: TreeStep,
  changes: readonly ChangedPath[],
): Promise<readonly string[]> {
  const inTheWay = await findInTheWay(scratch, target.repository, step.from, changes);
  if (inTheWay.length > 0) return inTheWay.slice(0, maxPathsShown).map(asText);
  const refused = await findRefusal(scratch, target, step);
  return refused === undefined ? [] : [asText(pathOfRefusal(refused))];
}

/** Changes that our own check has not seen, such as to a file marked as unchanged. */
function pathOfRefusal(result: RunResult): string {
  const [, path] =
    /(?:Entry|file|Updating|directory) '([^\n]*)' (?:not uptodate|would|overlaps|is not)/.exec(
      result.stderr,
    ) ?? [];
  if (path !== undefined) return path;
  throw gitStepFailed("read-tree", result);
}

/** Paths that this disk cannot hold, or cannot tell from others. */
async function refuseUnwritable(
  scratch: ScratchRepository,
  { repository: { top }, settings }: MergeTarget,
  tree: string,
  changes: readonly ChangedPath[],
): Promise<void> {
  if (top === undefined) return;
  const written = changes.filter(({ newMode }) => isThere(newMode)).map(({ path }) => path);
  const maxOwnBytes = maxPathBytes - Buffer.byteLength(top) - 1;
  const long = written.find(
    (path) => path.length > maxOwnBytes || path.split("/").some((part) => part.length > 255),
  );
  if (long !== undefined) {
    throw mergeFailed(
      `The path ${JSON.stringify(`${asText(long).slice(0, 80)}…`)} is too long for this disk.`,
      "Have it renamed.",
    );
  }
  if (!settings.ignoresCase) return;
  const all = (await scratch.ok(["ls-tree", "-r", "-z", "--name-only", tree])).split("\0");
  const [twin] = caseCollisions(
    all.filter((path) => path !== ""),
    written,
  );
  if (twin === undefined) return;
  throw mergeFailed(
    `The path ${JSON.stringify(asText(twin))} differs from another one only in its case.`,
    "Have one of them renamed: this disk cannot tell them apart.",
  );
}
