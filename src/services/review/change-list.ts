/**
 * The differences between two commits, from git's machine-readable output. Read by bytes: a path may hold anything but
 * NUL and need not be text.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { type Change, FileMode } from "../../contract/review/change.ts";
import { splitBytes } from "./byte-lines.ts";
import type { BlobReader } from "./blob-reader.ts";
import type { ReviewGit } from "./review-git.ts";

/** No option may run a program or depend on the user's settings. */
export const plainDiff = [
  "-r",
  "-M50%",
  // Beyond this many candidates only unchanged files are found again: the work grows with the square.
  "-l400",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--submodule=short",
  "--ignore-submodules=none",
  "--diff-algorithm=myers",
];

interface Draft {
  /** The path, byte by byte. */
  readonly key: string;
  readonly change: Omit<Change, "bytes">;
}

const kinds: Readonly<Record<string, Change["kind"]>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type_changed",
};

export async function listChanges(
  git: ReviewGit,
  blobs: BlobReader,
  { from, to, limit }: { readonly from: string; readonly to: string; readonly limit: number },
): Promise<readonly Change[]> {
  const args = ["diff-tree", "--raw", "--numstat", "--no-abbrev", "-z", ...plainDiff, from, to, "--"];
  const drafts = await readDrafts(splitBytes(git.stream(args), "\0"), limit);
  const sizes = await blobs.sizesOf(
    drafts.filter(({ change }) => hasContent(change)).map(({ change }) => change.newId),
  );
  return drafts.map(({ change }) => ({ ...change, bytes: sizes.get(change.newId) ?? 0 }));
}

const hasContent = ({ newMode }: Pick<Change, "newMode">): boolean =>
  newMode !== "000000" && newMode !== "160000";

/** First one record for each change, then, in the same order, one for the lines of each. */
async function readDrafts(pieces: AsyncGenerator<Buffer, void>, limit: number): Promise<readonly Draft[]> {
  const drafts: Draft[] = [];
  let at = 0;
  const next = async (): Promise<Buffer> => (await pieces.next()).value ?? Buffer.alloc(0);
  for await (const piece of resumable(pieces)) {
    if (piece[0] === 0x3a) {
      if (drafts.length === limit) throw tooLarge(limit);
      drafts.push(await readRaw(piece, next));
      continue;
    }
    const { key, ...counts } = await readCounts(piece, next);
    // Git leaves out what has no lines to count; the order stays.
    while (at < drafts.length && drafts[at]!.key !== key) at++;
    if (at < drafts.length) drafts[at] = { key, change: { ...drafts[at]!.change, ...counts } };
  }
  return drafts;
}

/** A loop that leaves the generator open while its body takes pieces out of it. */
const resumable = (pieces: AsyncGenerator<Buffer, void>): AsyncIterable<Buffer> => ({
  [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: () => pieces.return() }),
});

async function readRaw(piece: Buffer, next: () => Promise<Buffer>): Promise<Draft> {
  const [oldMode, newMode, oldId, newId, status] = piece.toString("latin1", 1).split(" ");
  const kind = kinds[status?.[0] ?? ""];
  if (kind === undefined || oldId === undefined || newId === undefined) throw unreadable();
  const first = await next();
  const isMoved = kind === "renamed" || kind === "copied";
  const path = isMoved ? await next() : first;
  const text = path.toString();
  const change: Draft["change"] = {
    path: text,
    ...(Buffer.from(text).equals(path) ? {} : { rawPath: path.toString("hex") }),
    ...(isMoved ? { oldPath: first.toString() } : {}),
    kind,
    oldMode: FileMode.parse(oldMode),
    newMode: FileMode.parse(newMode),
    oldId,
    newId,
    isBinary: false,
    added: 0,
    deleted: 0,
  };
  return { key: path.toString("latin1"), change };
}

async function readCounts(
  piece: Buffer,
  next: () => Promise<Buffer>,
): Promise<{ key: string } & Pick<Change, "isBinary" | "added" | "deleted">> {
  const [, added, deleted, path] = /^(\d+|-)\t(\d+|-)\t([^]*)$/.exec(piece.toString("latin1")) ?? [];
  if (path === undefined) throw unreadable();
  let key = path;
  if (key === "") {
    await next();
    key = (await next()).toString("latin1");
  }
  const isBinary = added === "-";
  return { key, isBinary, added: isBinary ? 0 : Number(added), deleted: isBinary ? 0 : Number(deleted) };
}

const tooLarge = (limit: number): AgentBoxError =>
  new AgentBoxError("review.too_large", `The work changes more than ${limit} files.`, {
    hint: "Let the box ignore what it has only downloaded or built (.gitignore), or look at it in parts.",
  });

const unreadable = (): AgentBoxError =>
  new AgentBoxError("review.failed", "Git has described the work in a way that is not understood here.");
