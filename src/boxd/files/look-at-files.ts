import { constants } from "node:fs";
import { type FileHandle, lstat, open, opendir, readlink, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { frameKind } from "../../contract/link/codec.ts";
import type { BoxdConfig, ListFilesOp, SliceFileOp, StreamOutput } from "../../contract/link/messages.ts";
import type { Connection } from "../connection.ts";

type Listed = Extract<StreamOutput, { type: "listed" }>;
type Stat = Awaited<ReturnType<typeof lstat>>;

const readBytes = 256 * 1024;
/** A page shows no more of one directory; how many there are is said at the end. */
const maxEntries = 5_000;
const maxNameLength = 1024;
const { O_RDONLY, O_DIRECTORY, O_NONBLOCK } = constants;

/** Sends what is in one directory: the first entries in the order of their names, and how many there are. */
export async function serveListFiles(
  connection: Connection,
  op: ListFilesOp,
  config: BoxdConfig,
): Promise<void> {
  await using directory = await openInWorkspace(op.path, O_RDONLY | O_DIRECTORY, config);
  const openPath = `/proc/self/fd/${directory.fd}`;
  const names: string[] = [];
  let total = 0;
  for await (const { name } of await opendir(openPath)) {
    total += 1;
    // Bounded while it is read: a directory can have millions of entries.
    if (name.length <= maxNameLength) names.push(name);
    if (names.length >= 2 * maxEntries) names.sort().splice(maxEntries);
  }
  for (const name of names.sort().slice(0, maxEntries)) {
    const entry = await describe(join(openPath, name), name);
    if (entry) connection.send(entry);
    await connection.writable();
  }
  connection.end({ type: "end", entries: total });
}

/** Sends what a file is, and a part of its bytes. */
export async function serveSliceFile(
  connection: Connection,
  op: SliceFileOp,
  config: BoxdConfig,
): Promise<void> {
  // Non-blocking, so that a pipe put in the file's place cannot hold boxd up.
  await using file = await openInWorkspace(op.path, O_RDONLY | O_NONBLOCK, config);
  const stat = await file.stat();
  if (!stat.isFile()) throw new AgentBoxError("file.exists", `${op.path} is not a file.`);
  connection.send(listed(stat, op.path.split("/").at(-1)?.slice(0, maxNameLength) ?? ""));
  let at = op.offset;
  const end = Math.min(stat.size, op.offset + op.length);
  while (at < end) {
    const { bytesRead, buffer } = await file.read(
      Buffer.allocUnsafe(Math.min(readBytes, end - at)),
      0,
      Math.min(readBytes, end - at),
      at,
    );
    if (bytesRead === 0)
      throw new AgentBoxError("file.failed", `The file ${op.path} changed while it was read.`);
    at += bytesRead;
    connection.write(frameKind.data, buffer.subarray(0, bytesRead));
    await connection.writable();
  }
  connection.end({ type: "end", bytes: Math.max(0, at - op.offset) });
}

/**
 * SECURITY: who may look at a box's work may not see its home or the secrets that it holds. Where the file really is, is asked
 * of the open descriptor: a link that is swapped between a check and the opening changes nothing.
 */
async function openInWorkspace(path: string, flags: number, config: BoxdConfig): Promise<FileHandle> {
  const root = await realpath(config.workspace);
  const file = await open(resolve(config.workspace, path), flags).catch(absent(path));
  try {
    const openPath = await readlink(`/proc/self/fd/${file.fd}`);
    if (openPath === root || openPath.startsWith(`${root}/`)) return file;
    throw new AgentBoxError("file.unsafe_path", `${path} is not in the workspace, or leads out of it.`);
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function describe(path: string, name: string): Promise<Listed | undefined> {
  try {
    const stat = await lstat(path);
    if (!stat.isSymbolicLink()) return listed(stat, name);
    return { ...listed(stat, name), target: (await readlink(path)).slice(0, 4096) };
  } catch {
    // It went away since the directory was read.
    return undefined;
  }
}

const listed = (stat: Stat, name: string): Listed => ({
  type: "listed",
  name,
  kind: stat.isFile() ? "file" : stat.isDirectory() ? "dir" : stat.isSymbolicLink() ? "symlink" : "other",
  size: stat.isFile() ? Number(stat.size) : 0,
  mtimeMs: Math.trunc(Number(stat.mtimeMs)),
});

const absent =
  (path: string) =>
  (error: unknown): never => {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new AgentBoxError("file.not_found", `There is no file or directory ${path} in the workspace.`);
    throw error;
  };
