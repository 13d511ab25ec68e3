/**
 * The parts of the person's own work that would be touched: staged, changed or untracked, ignored files included. Only
 * a path that is exactly as the merge found it may be changed, so that taking it back loses nothing either.
 */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathKind } from "../../host/files.ts";
import {
  type ChangedPath,
  isSubmodule,
  isThere,
  parentsOf,
  stagedAgainst,
  unstaged,
} from "./changed-paths.ts";
import { mergeFailed } from "./failure.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import type { HostRepository } from "../../host/git-repository.ts";

/** Paths that are not as `from` has them and that `changes` would touch. */
export async function findInTheWay(
  scratch: ScratchRepository,
  { gitDir, top }: HostRepository,
  from: string,
  changes: readonly ChangedPath[],
): Promise<readonly string[]> {
  if (top === undefined) return [];
  const view = { indexFile: join(scratch.gitDir, "index-copy"), top };
  await copyIndex(scratch, gitDir, "index-copy");
  const staged = await stagedAgainst(scratch, view, from);
  const touched = (await unstaged(scratch, view)).filter(({ oldMode }) => !isSubmodule(oldMode));
  const mine = new Set([...staged, ...touched].map(({ path }) => path));
  const aboveMine = new Set([...mine].flatMap(parentsOf));
  const untracked = new UntrackedFiles(top, changes);
  const found: string[] = [];
  for (const change of changes) {
    const { path, newMode } = change;
    const isMine =
      mine.has(path) ||
      (isThere(newMode) && (aboveMine.has(path) || parentsOf(path).some((p) => mine.has(p))));
    if (isMine || (await untracked.isInTheWayOf(change))) found.push(path);
  }
  return found;
}

export async function copyIndex(scratch: ScratchRepository, gitDir: string, name: string): Promise<void> {
  const index = join(gitDir, "index");
  if ((await scratch.copyIn(index, name)) || (await pathKind(index)) === undefined) return;
  throw mergeFailed(`The index ${index} cannot be read.`, "Check who owns it.");
}

/** Git itself would overwrite what is ignored, such as a person's .env. */
class UntrackedFiles {
  readonly #top: Buffer;
  readonly #removed: ReadonlySet<string>;
  readonly #removedFolded: ReadonlySet<string>;
  /** Directories that are known to be there or not, because most paths share them. */
  readonly #known = new Map<string, "dir" | "other" | undefined>();

  constructor(top: string, changes: readonly ChangedPath[]) {
    this.#top = Buffer.from(`${top}/`);
    const removed = changes.filter(({ newMode }) => !isThere(newMode)).map(({ path }) => path);
    this.#removed = new Set(removed);
    // On a disk that knows no case, the old name is found under the new one.
    this.#removedFolded = new Set(removed.map((path) => path.toLowerCase()));
  }

  async isInTheWayOf({ path, oldMode, newMode }: ChangedPath): Promise<boolean> {
    if (isThere(oldMode) || !isThere(newMode)) return false;
    for (const parent of parentsOf(path)) {
      const kind = await this.#kind(parent);
      if (kind === undefined) return false;
      if (kind === "other") return !this.#removed.has(parent);
    }
    const kind = await this.#kind(path);
    if (kind === undefined) return false;
    if (kind === "dir") return !isSubmodule(newMode) && !(await this.#holdsOnlyRemoved(path));
    return !this.#removedFolded.has(path.toLowerCase());
  }

  async #kind(path: string): Promise<"dir" | "other" | undefined> {
    if (this.#known.has(path)) return this.#known.get(path);
    const stat = await lstat(this.#at(path)).catch(() => undefined);
    const kind = stat && (stat.isDirectory() ? "dir" : "other");
    this.#known.set(path, kind);
    return kind;
  }

  async #holdsOnlyRemoved(directory: string): Promise<boolean> {
    for (const entry of await readdir(this.#at(directory), { encoding: "buffer", withFileTypes: true })) {
      const path = `${directory}/${entry.name.toString("latin1")}`;
      const isFine = entry.isDirectory() ? await this.#holdsOnlyRemoved(path) : this.#removed.has(path);
      if (!isFine) return false;
    }
    return true;
  }

  #at = (path: string): Buffer => Buffer.concat([this.#top, Buffer.from(path, "latin1")]);
}
