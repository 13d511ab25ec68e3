import { lstat, readlink } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { frameKind } from "../../contract/link/codec.ts";
import type { BoxdConfig, ReadFilesOp } from "../../contract/link/messages.ts";
import type { Connection } from "../connection.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";

const readBytes = 256 * 1024;
const maxPathLength = 4096;

/** Sends a file or a tree: an entry, its bytes, the next entry, and `end`. Links are sent as links. */
export async function serveReadFiles(
  connection: Connection,
  op: ReadFilesOp,
  config: BoxdConfig,
): Promise<void> {
  const path = resolve(config.workspace, op.path);
  const sending = new SendingFiles(connection);
  if (path === "/") {
    await using root = await SafeDirectory.open(path);
    await sending.directory(root, "", 0o755);
  } else {
    await using parent = await SafeDirectory.open(dirname(path)).catch(absent(op.path));
    await lstat(parent.at(basename(path))).catch(absent(op.path));
    await sending.entry(parent, basename(path), "");
  }
  connection.end({ type: "end", entries: sending.entries, bytes: sending.bytes });
}

class SendingFiles {
  entries = 0;
  bytes = 0;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** `path` is where the entry stands in the tree that is sent; the root has none. */
  async entry(parent: SafeDirectory, name: string, path: string): Promise<void> {
    const stat = await lstat(parent.at(name));
    const mode = stat.mode & 0o7777;
    if (stat.isDirectory()) {
      await using directory = await parent.openDirectory(name);
      await this.directory(directory, path, mode);
    } else if (stat.isSymbolicLink()) {
      const target = await readlink(parent.at(name));
      await this.#announce({ path: path || name, kind: "symlink", mode: 0o777, size: 0, target });
    } else if (stat.isFile()) {
      await this.#file(parent, name, path || name);
    }
    // Devices, sockets and pipes have no contents that could be copied.
  }

  async directory(directory: SafeDirectory, path: string, mode: number): Promise<void> {
    await this.#announce({ path, kind: "dir", mode, size: 0 });
    for (const name of (await directory.names()).sort()) {
      await this.entry(directory, name, path === "" ? name : `${path}/${name}`);
    }
  }

  async #file(parent: SafeDirectory, name: string, path: string): Promise<void> {
    await using file = await parent.openFile(name);
    const stat = await file.stat();
    if (!stat.isFile()) return;
    await this.#announce({ path, kind: "file", mode: stat.mode & 0o7777, size: stat.size });
    let left = stat.size;
    while (left > 0) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(readBytes, left)));
      if (bytesRead === 0) throw changed(path);
      left -= bytesRead;
      this.#connection.write(frameKind.data, buffer.subarray(0, bytesRead));
      await this.#connection.writable();
    }
    this.bytes += stat.size;
    if ((await file.stat()).size !== stat.size) throw changed(path);
  }

  async #announce(entry: {
    path: string;
    kind: "file" | "dir" | "symlink";
    mode: number;
    size: number;
    target?: string;
  }): Promise<void> {
    if (entry.path.length > maxPathLength) {
      throw new AgentBoxError(
        "file.failed",
        `A path of ${entry.path.length} characters is too long to be copied.`,
      );
    }
    this.entries += 1;
    this.#connection.send({ type: "entry", ...entry });
    await this.#connection.writable();
  }
}

/** The answer names the path as it was asked for, not the descriptor it was looked up through. */
const absent =
  (path: string) =>
  (error: unknown): never => {
    const isAbsent = ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
    throw isAbsent
      ? new AgentBoxError("file.not_found", `There is no file or directory ${path} in the box.`)
      : error;
  };

const changed = (path: string): AgentBoxError =>
  new AgentBoxError("file.failed", `The file ${path} changed while it was read.`);
