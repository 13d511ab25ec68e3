/**
 * A tree of files as it lies on disk: every entry with what the kernel says about it. Only files, directories and
 * links that stay inside; anything else is refused. Nothing is followed.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join, posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { AgentBoxError } from "../../base/errors.ts";

export interface TreeEntry {
  /** Relative to the tree, with `/`. */
  readonly path: string;
  readonly kind: "file" | "dir" | "link";
  readonly mode: number;
  readonly bytes: number;
  /** Of a link. */
  readonly target: string;
  /**
   * Changes whenever a file's content may have: size, times and inode. ctime cannot be set by a program, so a file
   * that was rewritten and dated back still shows.
   */
  readonly stamp: string;
}

const maxEntries = 500_000;
/** Synchronous calls are five times as fast here; between batches the event loop has a turn. */
const batch = 512;

/** All entries, sorted by path, without the top directory itself. */
export async function readTree(dir: string): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const pending = [""];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const found of readdirSync(join(dir, parent), { withFileTypes: true })) {
      const entry = readEntry(dir, parent === "" ? found.name : `${parent}/${found.name}`, found);
      entries.push(entry);
      if (entry.kind === "dir") pending.push(entry.path);
      if (entries.length % batch === 0) await setImmediate();
    }
    if (entries.length > maxEntries) throw refused(`has more than ${maxEntries} files`, parent);
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function readEntry(dir: string, path: string, found: Dirent): TreeEntry {
  const full = join(dir, path);
  const stat = lstatSync(full, { bigint: true });
  const base = { path, mode: Number(stat.mode & 0o7777n), bytes: 0, target: "", stamp: "" };
  if (found.isFile()) return { ...base, kind: "file", bytes: Number(stat.size), stamp: stampOf(stat) };
  if (found.isDirectory()) return { ...base, kind: "dir" };
  if (!found.isSymbolicLink()) throw refused("holds something that is no file, directory or link", path);
  const target = readlinkSync(full);
  if (!staysInside(path, target)) throw refused("holds a link that leads out of it", path);
  // A link's own mode means nothing.
  return { ...base, kind: "link", mode: 0, target };
}

const stampOf = ({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string =>
  `${size}.${mtimeNs}.${ctimeNs}.${ino}`;

/** SECURITY: in the box the tree lies elsewhere; a link out of it would read a file of the box. */
export function staysInside(path: string, target: string): boolean {
  if (target.startsWith("/")) return false;
  const led = posix.normalize(posix.join(posix.dirname(path), target));
  return led !== ".." && !led.startsWith("../");
}

const refused = (problem: string, path: string): AgentBoxError =>
  new AgentBoxError("tool.install_failed", `The tree ${problem}: ${path.slice(0, 300)}`, {
    hint: "Such a package cannot be shared with boxes.",
    facts: { path: path.slice(0, 300) },
  });
