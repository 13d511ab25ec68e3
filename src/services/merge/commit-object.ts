/**
 * Commits as objects, written byte for byte: authors, dates, encodings and messages stay as they were, nothing is
 * signed and no editor or template is used.
 */
import type { ScratchRepository } from "./scratch-repository.ts";

export interface CommitObject {
  readonly tree: string;
  readonly parents: readonly string[];
  /** `Name <email> seconds zone`. */
  readonly author: string;
  readonly committer: string;
  readonly encoding?: string | undefined;
  /** A byte per character, as git's output is kept. */
  readonly message: string;
}

export async function writeCommit(scratch: ScratchRepository, commit: CommitObject): Promise<string> {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${commit.author}`,
    `committer ${commit.committer}`,
    ...(commit.encoding === undefined ? [] : [`encoding ${commit.encoding}`]),
  ];
  const text = `${lines.join("\n")}\n\n${commit.message}`;
  const written = await scratch.ok(["hash-object", "-t", "commit", "-w", "--stdin"], {
    stdin: Buffer.from(text, "latin1"),
  });
  return written.trim();
}

export async function readCommitObject(scratch: ScratchRepository, id: string): Promise<CommitObject> {
  const text = await scratch.ok(["cat-file", "commit", id]);
  const end = text.indexOf("\n\n");
  const lines = text.slice(0, end).split("\n");
  // A line that begins with a space goes on with a signature, which would not fit the new commit.
  const all = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  return {
    tree: all("tree")[0]!,
    parents: all("parent"),
    author: all("author")[0]!,
    committer: all("committer")[0]!,
    encoding: all("encoding")[0],
    message: text.slice(end + 2),
  };
}

/** `Name <email>` with a moment, in UTC. */
export const signed = (identity: string, atMs: number): string =>
  `${asBytes(identity)} ${Math.floor(atMs / 1000)} +0000`;

export const asBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** Trailers are one block at the end; a message that has such a block already gets them there. */
export function withTrailers(message: string, trailers: readonly string[]): string {
  // SECURITY: git shows a message as far as its first zero byte, so that is what was judged.
  const text = message.split("\0", 1)[0]!.trimEnd();
  const lines = trailers.map((line) => asBytes(line.replaceAll(/[\u0000-\u001f]+/g, " ").trim()));
  if (lines.length === 0) return `${text}\n`;
  const last = text.split("\n\n").slice(1).at(-1) ?? "";
  const hasBlock = last !== "" && last.split("\n").every((line) => /^[A-Za-z][A-Za-z0-9-]*: \S/.test(line));
  return `${text}${hasBlock ? "\n" : "\n\n"}${lines.join("\n")}\n`;
}
