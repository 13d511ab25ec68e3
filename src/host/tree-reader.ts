/**
 * Reads a file or a directory as a stream of entries. Links below the root are sent as links and never followed;
 * what is neither file, directory nor link is skipped and reported.
 */
import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../base/errors.ts";
import { SafeDirectory, isLinkRefusal } from "../safe-path/safe-directory.ts";
import type { SkippedEntry, TreeEntry } from "./tree-entry.ts";

/** The chunks of a file follow its entry, before the next one. */
export type TreeItem =
  | { readonly type: "entry"; readonly entry: TreeEntry }
  | { readonly type: "data"; readonly chunk: Uint8Array }
  | { readonly type: "skipped"; readonly skipped: SkippedEntry };

const chunkBytes = 64 << 10;

/** The root itself may be reached through a link: the person named it. */
export async function* readTree(path: string): AsyncGenerator<TreeItem> {
  const name = basename(resolve(path));
  if (name === "")
    throw new AgentBoxError("file.unsafe_path", "The root of the file system cannot be copied.");
  const root = await realRoot(path);
  await using parent = await SafeDirectory.open(dirname(root));
  yield* readAt(parent, basename(root), name);
}

async function realRoot(path: string): Promise<string> {
  try {
    const root = await realpath(path);
    const found = await stat(root);
    if (found.isFile() || found.isDirectory()) return root;
    throw new AgentBoxError("file.failed", `${path} is neither a file nor a directory.`);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new AgentBoxError("file.not_found", `There is no file or directory ${path}.`, { cause: error });
  }
}

async function* readAt(parent: SafeDirectory, name: string, path: string): AsyncGenerator<TreeItem> {
  const found = await lstat(parent.at(name)).catch(() => undefined);
  if (found === undefined) yield skip(path, "it was removed while it was being copied");
  else if (found.isSymbolicLink()) yield* readLink(parent, name, path);
  else if (found.isDirectory()) yield* readDirectory(parent, name, path);
  else if (found.isFile()) yield* readFile(parent, name, path);
  else yield skip(path, "it is neither a file, a directory nor a link");
}

async function* readLink(parent: SafeDirectory, name: string, path: string): AsyncGenerator<TreeItem> {
  const target = await readlink(parent.at(name)).catch(() => undefined);
  if (target === undefined) yield skip(path, "it changed while it was being copied");
  else yield { type: "entry", entry: { path, kind: "symlink", mode: 0o777, size: 0, target } };
}

async function* readDirectory(parent: SafeDirectory, name: string, path: string): AsyncGenerator<TreeItem> {
  const directory = await parent.openDirectory(name).catch(unreadable);
  if (typeof directory === "string") {
    yield skip(path, directory);
    return;
  }
  try {
    const mode = (await directory.mode()) & 0o777;
    yield { type: "entry", entry: { path, kind: "dir", mode, size: 0 } };
    for (const child of (await directory.names()).sort()) yield* readAt(directory, child, `${path}/${child}`);
  } finally {
    await directory[Symbol.asyncDispose]();
  }
}

async function* readFile(parent: SafeDirectory, name: string, path: string): AsyncGenerator<TreeItem> {
  const file = await parent.openFile(name).catch(unreadable);
  if (typeof file === "string") {
    yield skip(path, file);
    return;
  }
  try {
    const found = await file.stat();
    if (!found.isFile()) {
      yield skip(path, "it changed while it was being copied");
      return;
    }
    yield { type: "entry", entry: { path, kind: "file", mode: found.mode & 0o777, size: found.size } };
    // The announced size is kept, even if the file changes meanwhile: the stream has no other frame.
    for (let left = found.size; left > 0; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(left, chunkBytes)));
      if (bytesRead === 0)
        throw new AgentBoxError("file.failed", `${path} became shorter while it was being copied.`);
      left -= bytesRead;
      yield { type: "data", chunk: buffer.subarray(0, bytesRead) };
    }
  } finally {
    await file.close();
  }
}

const skip = (path: string, reason: string): TreeItem => ({ type: "skipped", skipped: { path, reason } });

const unreadable = (error: unknown): string =>
  isLinkRefusal(error) ? "it changed while it was being copied" : `it cannot be read (${messageOf(error)})`;
