import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { FileHandle } from "node:fs/promises";
import { AgentBoxError } from "../../base/errors.ts";
import { decodeJson, type Frame, frameKind } from "../../contract/link/codec.ts";
import type { BoxdConfig, StreamInput, WriteFilesOp } from "../../contract/link/messages.ts";
import type { Connection } from "../connection.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";

type Entry = Extract<StreamInput, { type: "entry" }>;

/** Receives a file or a tree into the box, with the naming of `cp`. */
export async function serveWriteFiles(
  connection: Connection,
  op: WriteFilesOp,
  config: BoxdConfig,
): Promise<void> {
  const receiving = new ReceivingFiles(connection.frames(), resolve(config.workspace, op.path));
  connection.send({ type: "started" });
  await receiving.all();
  connection.end({ type: "end", entries: receiving.entries, bytes: receiving.bytes });
}

/** SECURITY: an entry that names a path outside the destination is refused, even if the file system would allow it. */
function entryParts(path: string): string[] {
  const parts = path.split("/");
  if (path.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new AgentBoxError(
      "file.unsafe_path",
      `The entry ${JSON.stringify(path)} is not a plain relative path.`,
    );
  }
  return parts;
}

class ReceivingFiles {
  entries = 0;
  bytes = 0;
  readonly #frames: AsyncGenerator<Frame>;
  readonly #destination: string;
  readonly #modes: { parts: string[]; mode: number }[] = [];

  constructor(frames: AsyncGenerator<Frame>, destination: string) {
    this.#frames = frames;
    this.#destination = destination;
  }

  async all(): Promise<void> {
    const first = await this.#nextEntry();
    if (!first) return;
    const isDirectory = (await stat(this.#destination).catch(() => undefined))?.isDirectory() ?? false;
    if (isDirectory) {
      await using root = await SafeDirectory.open(this.#destination);
      return await this.#tree(root, first);
    }
    await using parent = await SafeDirectory.open(dirname(this.#destination));
    const name = basename(this.#destination);
    if (first.kind !== "dir") {
      entryParts(first.path);
      await this.#put(parent, name, first);
      if (await this.#nextEntry()) throw protocolError("only one file can get the name of the destination");
      return;
    }
    await using root = await parent.ensureDirectory(name);
    // The destination is new and takes the place of the directory that is sent.
    await this.#tree(root, first, first.path);
  }

  async #tree(root: SafeDirectory, first: Entry, renamed = ""): Promise<void> {
    for (let entry: Entry | undefined = first; entry; entry = await this.#nextEntry()) {
      if (entry === first && entry.path === renamed && entry.kind === "dir") {
        this.entries += 1;
        continue;
      }
      const parts = entryParts(entry.path);
      if (renamed !== "" && parts.shift() !== renamed)
        throw protocolError("an entry outside of the directory that is sent");
      if (parts.length === 0) throw protocolError("the directory that is sent comes twice");
      const name = parts.pop()!;
      await within(root, parts, async (parent) => {
        await this.#put(parent, name, entry);
        if (entry.kind === "dir") this.#modes.push({ parts: [...parts, name], mode: entry.mode });
      });
    }
    // Last and from the inside out, because a directory without the write bit could not be filled.
    for (const { parts, mode } of this.#modes.reverse())
      await within(root, parts, (directory) => directory.chmod(mode & 0o777));
  }

  async #put(parent: SafeDirectory, name: string, entry: Entry): Promise<void> {
    this.entries += 1;
    if (entry.kind === "dir") await (await parent.ensureDirectory(name))[Symbol.asyncDispose]();
    else if (entry.kind === "symlink") await parent.replaceLink(name, entry.target ?? "");
    else await parent.replaceFile(name, entry.mode, (file) => this.#contents(file, entry.size));
  }

  async #contents(file: FileHandle, size: number): Promise<void> {
    let left = size;
    while (left > 0) {
      const frame = (await this.#frames.next()).value as Frame | undefined;
      if (!frame) throw protocolError("the stream ended within a file");
      if (frame.kind !== frameKind.data || frame.payload.length > left)
        throw protocolError("more bytes than announced");
      await file.writeFile(frame.payload);
      left -= frame.payload.length;
    }
    this.bytes += size;
  }

  /** Undefined at the end of the stream's entries. */
  async #nextEntry(): Promise<Entry | undefined> {
    const frame = (await this.#frames.next()).value as Frame | undefined;
    if (!frame) throw protocolError("the stream ended without `end`");
    if (frame.kind === frameKind.eof) return undefined;
    if (frame.kind !== frameKind.json) throw protocolError("bytes without an entry");
    const message = decodeJson(frame.payload) as StreamInput;
    if (message.type === "end") return undefined;
    if (message.type !== "entry") throw protocolError(`a ${message.type} message between entries`);
    return message;
  }
}

async function within(
  root: SafeDirectory,
  parts: readonly string[],
  act: (directory: SafeDirectory) => Promise<void>,
): Promise<void> {
  const [name, ...rest] = parts;
  if (name === undefined) return act(root);
  await using directory = await root.ensureDirectory(name);
  await within(directory, rest, act);
}

const protocolError = (what: string): AgentBoxError =>
  new AgentBoxError("file.failed", `The copy broke off: ${what}.`);
