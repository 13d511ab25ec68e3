import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { FileEntry, KeptAt } from "../../contract/api/schemas/files-and-ports.ts";
import type { Box } from "../../contract/box.ts";
import type { StreamOp, StreamOutput } from "../../contract/link/messages.ts";
import type { LinkStream } from "../../ports/link.ts";
import type { Using } from "../using.ts";
import { openStream } from "../exec/run-in-box.ts";
import { cannotAnswer, listKept, readKept } from "./kept-files.ts";
import { streamEnd } from "./stream-end.ts";
import { workspacePath } from "./workspace-path.ts";

/** SECURITY: boxd promises the same; checked here as well, because the box's boxd may have been replaced. */
const maxEntries = 5_000;

export interface Directory {
  readonly entries: FileEntry[];
  /** More than there are entries when it is too large to show. */
  readonly total: number;
  /** The checkpoint that was read, where the box does not run. */
  readonly keptAt?: KeptAt | undefined;
}

type LookParts = Using<"getBox" | "live" | "noteFromBox" | "reviews" | "storage" | "store">;

/** The content of one directory of the workspace. The box looks; the host opens no path that a box controls. */
export async function listFiles(core: LookParts, name: string, path: string): Promise<Directory> {
  const asked = await core.getBox(name);
  if (cannotAnswer(asked))
    return noteRefusal(core, asked, "list", path, listKept(core, asked, path, maxEntries));
  const { box, stream } = await openPath(core, name, "list", path, (below) => ({
    kind: "files.list",
    path: below,
  }));
  const entries: FileEntry[] = [];
  const end = streamEnd(stream, (message) => {
    if (message.type === "listed" && entries.length < maxEntries) entries.push(entryOf(message));
  });
  const { entries: total = entries.length } = await noteRefusal(core, box, "list", path, end);
  return { entries, total: Math.max(total, entries.length) };
}

export interface FileSlice {
  readonly entry: FileEntry;
  /** How many bytes follow. */
  readonly length: number;
  /** To be taken once; so many bytes, or a failure. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface SliceQuery {
  readonly path: string;
  readonly offset: number;
  readonly limit?: number | undefined;
}

/** A part of one file of the workspace, as the box reads it. */
export async function readFile(
  core: LookParts & Using<"background" | "note">,
  name: string,
  query: SliceQuery,
): Promise<FileSlice> {
  const { path, offset, limit = Number.MAX_SAFE_INTEGER } = query;
  const asked = await core.getBox(name);
  if (cannotAnswer(asked)) return keptSlice(core, asked, { path, offset, limit });
  const { box, stream } = await openPath(core, name, "read", path, (below) => ({
    kind: "files.slice",
    path: below,
    offset,
    length: Math.min(limit, Number.MAX_SAFE_INTEGER - offset),
  }));
  const chunks = new Chunks(stream);
  const listed = new Promise<FileEntry>((resolve, reject) => {
    const end = streamEnd(stream, (message) => {
      if (message.type === "listed") resolve(entryOf(message));
    });
    end.then(
      () => {
        chunks.end();
        reject(new AgentBoxError("link.violation", "The box did not say which file it sent."));
      },
      (error: Error) => {
        chunks.fail(error);
        reject(error);
      },
    );
  });
  const entry = await noteRefusal(core, box, "read", path, listed);
  const length = Math.max(0, Math.min(entry.size - offset, limit));
  core.background("noting a copy", core.note("files.copied", box, { op: "read", path, bytes: length }));
  return { entry, length, chunks: exactly(chunks, length) };
}

async function keptSlice(
  core: LookParts & Using<"background" | "note">,
  box: Box,
  { path, offset, limit }: { readonly path: string; readonly offset: number; readonly limit: number },
): Promise<FileSlice> {
  const { entry, bytes } = await noteRefusal(core, box, "read", path, readKept(core, box, path));
  const slice = bytes.subarray(offset, Math.min(bytes.length, offset + limit));
  core.background("noting a copy", core.note("files.copied", box, { op: "read", path, bytes: slice.length }));
  return { entry, length: slice.length, chunks: oneChunk(slice) };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

async function openPath(
  core: Using<"getBox" | "live" | "noteFromBox">,
  name: string,
  op: string,
  path: string,
  make: (below: string) => StreamOp,
): Promise<{ box: Box; stream: LinkStream }> {
  const box = await core.getBox(name);
  const below = await noteRefusal(core, box, op, path, (async () => workspacePath(path))());
  return openStream(core, name, make(below));
}

/** An attempt to leave the workspace is recorded, whether a person or a link in the box made it. */
export async function noteRefusal<T>(
  core: Using<"noteFromBox">,
  box: Box,
  op: string,
  path: string,
  task: Promise<T>,
): Promise<T> {
  try {
    return await task;
  } catch (error) {
    if (isAgentBoxError(error, "file.unsafe_path"))
      core.noteFromBox("files.refused", box, { op, path: path.slice(0, 1024) });
    throw error;
  }
}

const entryOf = ({
  name,
  kind,
  size,
  mtimeMs,
  target,
}: Extract<StreamOutput, { type: "listed" }>): FileEntry => ({ name, kind, size, mtimeMs, target });

/** SECURITY: a box that sends more than it announced would write into the next answer of the connection. */
async function* exactly(chunks: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new AgentBoxError("link.violation", "The box did not send what it had announced.");
}

/** Bytes of a stream at the pace of the one who takes them. */
class Chunks implements AsyncIterable<Uint8Array> {
  readonly #stream: LinkStream;
  readonly #waiting: Uint8Array[] = [];
  #wake = (): void => undefined;
  #hasEnded = false;
  #error: Error | undefined;

  constructor(stream: LinkStream) {
    this.#stream = stream;
    stream.onData((chunk) => {
      this.#waiting.push(chunk);
      stream.pause();
      this.#wake();
    });
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  fail(error: Error): void {
    this.#error = error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#waiting.shift();
        if (chunk) yield chunk;
        else if (this.#error) throw this.#error;
        else if (this.#hasEnded) return;
        else {
          const woken = new Promise<void>((resolve) => (this.#wake = resolve));
          this.#stream.resume();
          await woken;
        }
      }
    } finally {
      this.#stream.close();
    }
  }
}
