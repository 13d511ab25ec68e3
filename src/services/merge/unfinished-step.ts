/**
 * The note of a step in progress, kept in references of the worktree from before the first file is touched until the
 * branch has moved. If the step is cut off, the next command finds the note and takes back the half that was done.
 */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { changesBetween, isThere, stagedAgainst, unstaged } from "./changed-paths.ts";
import { gitStepFailed } from "./failure.ts";
import { copyIndex } from "./in-the-way.ts";
import { dropReference, moveReferences, readReference, setReference } from "./references.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import { type MergeTarget, nothingId } from "./target.ts";
import { type TreeStep, moveFiles, refreshIndex, withIndex } from "./worktree-step.ts";

/** References below `worktree` belong to one worktree each, so two of them do not meet. */
const notes = {
  from: "refs/worktree/agentbox/merge-from",
  to: "refs/worktree/agentbox/merge-to",
  head: "refs/worktree/agentbox/merge-head",
};

export const writeNote = ({ head }: MergeTarget, { from, to }: TreeStep): readonly string[] => [
  setReference(notes.from, from),
  setReference(notes.to, to),
  ...(head === undefined ? [] : [setReference(notes.head, head)]),
];

export const dropNote = ({ head }: MergeTarget): readonly string[] =>
  [notes.from, notes.to, ...(head === undefined ? [] : [notes.head])].map(dropReference);

/** For a step that a process before this one began. */
export async function takeBackUnfinished(scratch: ScratchRepository, target: MergeTarget): Promise<void> {
  if (target.repository.top === undefined) return;
  const read = (name: string) => readReference(target, name);
  const [from, to, head] = await Promise.all([read(notes.from), read(notes.to), read(notes.head)]);
  // With another commit at HEAD, either the step was done but for its note, or the person has gone on from there.
  if (from !== undefined && to !== undefined && head === target.head)
    await takeBack(scratch, target, { from, to });
  const left = [from && notes.from, to && notes.to, head && notes.head].filter((name) => name !== undefined);
  await moveReferences(target, "agentbox: unfinished merge taken back", left.map(dropReference));
}

/**
 * A file that is as the step would have made it, or is missing, is put back; one that the person has written since
 * is left alone.
 */
export async function takeBack(
  scratch: ScratchRepository,
  target: MergeTarget,
  step: TreeStep,
): Promise<void> {
  await markAsDone(scratch, target, step);
  const result = await moveFiles(scratch, target, { from: step.to, to: step.from });
  if (result.code !== 0) throw gitStepFailed("read-tree", result);
}

/** Brings the index to where the files are, so that going back is a step like any other. */
async function markAsDone(
  scratch: ScratchRepository,
  target: MergeTarget,
  { from, to }: TreeStep,
): Promise<void> {
  const { gitDir } = target.repository;
  const top = target.repository.top!;
  const now = { indexFile: join(scratch.gitDir, "index-now"), top };
  const done = { indexFile: join(scratch.gitDir, "index-done"), top };
  await copyIndex(scratch, gitDir, "index-now");
  await scratch.ok(["read-tree", to], withIndex(target, done.indexFile));
  const notStaged = new Set((await stagedAgainst(scratch, now, to)).map(({ path }) => path));
  const different = (await unstaged(scratch, done)).filter(({ newMode }) => isThere(newMode));
  const notWritten = new Set(different.map(({ path }) => path));
  const lines: string[] = [];
  for (const { path, oldMode, newMode, newId } of await changesBetween(scratch, from, to)) {
    if (!notStaged.has(path) || notWritten.has(path)) continue;
    const isPresent = await exists(top, path);
    // A file that was to be added and is not there has not been begun; perhaps no disk can hold such a path.
    if (isThere(newMode) && (isPresent || isThere(oldMode))) lines.push(`${newMode} ${newId}\t${path}\0`);
    if (!isThere(newMode) && !isPresent) lines.push(`0 ${nothingId(target)}\t${path}\0`);
  }
  const index = join(gitDir, "index");
  await scratch.ok(["update-index", "-z", "--add", "--replace", "--index-info"], {
    ...withIndex(target, index),
    stdin: Buffer.from(lines.join(""), "latin1"),
  });
  await refreshIndex(scratch, target, index);
}

const exists = (top: string, path: string): Promise<boolean> =>
  lstat(Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, "latin1")])).then(
    () => true,
    () => false,
  );
