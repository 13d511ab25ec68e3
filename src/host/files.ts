/** Small file operations that must be exactly right: atomic writes, owner-only modes, removal that follows nothing. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, rename, rm, chmod, chown } from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatBytes } from "../base/bytes.ts";
import { AgentBoxError } from "../base/errors.ts";

export interface WriteOptions {
  readonly mode?: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** False for what is written anew before it is needed again: waiting for the disk is most of the time it takes. */
  readonly isDurable?: boolean;
}

/** Writes a file so that a reader sees the old or the new content, and a crash leaves one of the two. */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, owner, isDurable = true }: WriteOptions = {},
): Promise<void> {
  const temporary = join(dirname(path), `.${randomBytes(6).toString("hex")}.tmp`);
  const file = await open(temporary, "wx", mode);
  try {
    await file.writeFile(content);
    await file.chmod(mode);
    if (owner) await file.chown(owner.uid, owner.gid);
    if (isDurable) await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

export interface DirectoryOptions {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/** Makes a directory with exactly this mode and owner, under any umask. */
export async function ensureDirectory(path: string, { mode, uid, gid }: DirectoryOptions): Promise<void> {
  await mkdir(path, { recursive: true, mode });
  await chmod(path, mode);
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

/**
 * The text of a plain file of at most `maxBytes`; undefined when it does not exist. SECURITY: a repository decides what
 * is at this path: a link is not followed, a pipe is not waited for, and a huge file is not read.
 */
export async function readSmallFile(path: string, maxBytes: number): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
    }
    if (length <= maxBytes) return buffer.toString("utf8", 0, length);
    throw new AgentBoxError("input.too_large", `${path} is larger than ${formatBytes(maxBytes)}.`, {
      hint: "Make it smaller, or remove it.",
    });
  } finally {
    await file.close();
  }
}

/** Removes a tree. Symbolic links are removed, never followed. */
export const removeTree = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 3 });

export async function pathKind(path: string): Promise<"file" | "dir" | "symlink" | "other" | undefined> {
  try {
    // lstat, because a link must be seen as a link and not as what it points to.
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return "symlink";
    if (stat.isDirectory()) return "dir";
    return stat.isFile() ? "file" : "other";
  } catch {
    return undefined;
  }
}
