/**
 * The branch as it would be after a merge: one commit, the agent's commits one by one, or a tree alone. All modes end
 * with the same files; they differ in the history only.
 */
import type { MergeConflict } from "../../contract/review/merge.ts";
import type { MergeRequest } from "../../ports/merge.ts";
import type { HistoryCommit } from "../../ports/review.ts";
import {
  type CommitObject,
  asBytes,
  readCommitObject,
  signed,
  withTrailers,
  writeCommit,
} from "./commit-object.ts";
import { asText, mergeFailed } from "./failure.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import { formatIdentity } from "./settings.ts";
import { type MergeTarget, requireObjectId } from "./target.ts";
import { type ThreeTrees, mergeTrees } from "./three-way.ts";

export type MergeResult =
  | { readonly conflicts: readonly MergeConflict[] }
  | {
      readonly before: string;
      readonly tree: string;
      readonly commit: string | undefined;
      /** Commits that are new, each on the one before it. */
      readonly made: readonly HistoryCommit[];
    };

const maxCommits = 5_000;

export async function makeResult(
  scratch: ScratchRepository,
  target: MergeTarget,
  request: MergeRequest,
  nowMs: number,
): Promise<MergeResult> {
  const before = await treeOf(scratch, target.head);
  const [base, theirs] = [await treeOf(scratch, request.base), await treeOf(scratch, request.commit)];
  const merged = await merge(scratch, target, { base, ours: before, theirs });
  if ("conflicts" in merged) return merged;
  const { tree } = merged;
  if (request.mode === "patch" || tree === before) return { before, tree, commit: undefined, made: [] };
  const replayed =
    request.mode === "commits" ? await replay(scratch, target, request, nowMs) : start(target, before);
  if ("conflicts" in replayed) return replayed;
  // Of what was never committed, or belongs to no single commit, one more is made.
  if (replayed.tree === tree) return { before, tree, commit: replayed.commit, made: replayed.made };
  const author = request.author === undefined ? target.settings.identity : parseAuthor(request.author);
  const commit = await writeCommit(scratch, {
    tree,
    parents: replayed.commit === undefined ? [] : [replayed.commit],
    author: signed(author, nowMs),
    committer: signed(target.settings.identity, nowMs),
    // Git shows no message beyond a zero byte, and all of this one is meant.
    message: withTrailers(asBytes(request.message.replaceAll("\0", "")), request.trailers),
  });
  // This one has words and an author of ours.
  return { before, tree, commit, made: replayed.made };
}

interface Replayed {
  readonly commit: string | undefined;
  readonly tree: string;
  readonly made: readonly HistoryCommit[];
}

const start = ({ head }: MergeTarget, tree: string): Replayed => ({ commit: head, tree, made: [] });

/** A merge the agent made lands as one commit: its difference to the line of work it was made on. */
async function replay(
  scratch: ScratchRepository,
  target: MergeTarget,
  request: MergeRequest,
  nowMs: number,
): Promise<Replayed | { readonly conflicts: readonly MergeConflict[] }> {
  const range = ["--end-of-options", requireObjectId(request.head), `^${requireObjectId(request.base)}`];
  const args = ["rev-list", "--reverse", "--topo-order", "--first-parent", ...range];
  const ids = (await scratch.ok(args)).split("\n").filter((line) => line !== "");
  if (ids.length > maxCommits) {
    throw mergeFailed(`The agent has made ${ids.length} commits.`, "Merge with the mode squash.");
  }
  let current = start(target, await treeOf(scratch, target.head));
  for (const id of ids) {
    const original = await readCommitObject(scratch, id);
    const base = await treeOf(scratch, original.parents[0]);
    const merged = await merge(scratch, target, { base, ours: current.tree, theirs: original.tree });
    if ("conflicts" in merged) return merged;
    if (merged.tree === current.tree) continue;
    const commit = await writeCommit(scratch, {
      ...original,
      tree: merged.tree,
      parents: current.commit === undefined ? [] : [current.commit],
      committer: signed(target.settings.identity, nowMs),
      message: withTrailers(original.message, request.trailers),
    });
    current = { commit, tree: merged.tree, made: [...current.made, madeOf(original, commit, current.tree)] };
  }
  return current;
}

const madeOf = ({ author, message, encoding }: CommitObject, id: string, from: string): HistoryCommit => ({
  id,
  from,
  author: asText(author.replace(/ \d+ [+-]\d+$/, "")),
  message: asText(message).trimEnd(),
  encoding,
});

function merge(scratch: ScratchRepository, { repository: { top } }: MergeTarget, trees: ThreeTrees) {
  return mergeTrees(scratch, trees, top === undefined ? {} : { GIT_WORK_TREE: top });
}

/** The tree of a commit, or the empty one where there is no commit. */
export async function treeOf(scratch: ScratchRepository, commit: string | undefined): Promise<string> {
  if (commit === undefined)
    return (await scratch.ok(["hash-object", "-w", "-t", "tree", "--stdin"], { stdin: "" })).trim();
  const args = ["rev-parse", "--verify", "--end-of-options", `${requireObjectId(commit)}^{tree}`];
  return (await scratch.ok(args)).trim();
}

function parseAuthor(author: string): string {
  const [, name, email] = /^([^<>]*)<([^<>]*)>\s*$/.exec(author) ?? [];
  if (name === undefined || email === undefined)
    throw mergeFailed(`The author ${JSON.stringify(author)} is not of the form Name <email>.`, "Correct it.");
  return formatIdentity(name, email);
}
