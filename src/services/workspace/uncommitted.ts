/**
 * The uncommitted work of a source: which paths differ from its HEAD, and how they come into a clone. The host's
 * index is read from a copy and never written.
 */
import { lstat, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";
import { CopyBudget, type CopyLimits, copyEntry, openBelow } from "./copy-tree.ts";
import { type GitOptions, git, gitFailed, gitOk } from "../../host/git.ts";

export interface UncommittedQuery {
  readonly top: string;
  readonly sourceGitDir: string;
  /** The fresh clone of the source, at the source's HEAD. */
  readonly cloneGitDir: string;
  readonly excludesFile: string;
  /** Where the objects are that the clone does not have yet. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * SECURITY: comparing runs the clean filters and the fsmonitor that the config names. It is therefore done with
 * the clone's config, which is ours, over the source's files: the source's own config is not read at all.
 */
export async function listUncommitted(query: UncommittedQuery): Promise<readonly string[]> {
  const index = join(query.cloneGitDir, "source-index");
  const options: GitOptions = {
    gitDir: query.cloneGitDir,
    cwd: query.top,
    env: { ...query.env, GIT_WORK_TREE: query.top, GIT_INDEX_FILE: index },
    config: { "core.excludesFile": query.excludesFile },
  };
  const flags = ["--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
  try {
    // With the source's own index only files whose times have changed are read again.
    await copyIndex(query.sourceGitDir, index);
    let result = await git(["status", ...flags], options);
    if (result.code !== 0) {
      // An index in parts cannot be read without its repository; a new one gives the same answer, slower.
      await rm(index, { force: true });
      await gitOk(["read-tree", "HEAD"], options);
      result = await git(["status", ...flags], options);
    }
    if (result.code !== 0) throw gitFailed("status", result);
    return result.stdout
      .split("\0")
      .filter((line) => line !== "")
      .map((line) => line.slice(3));
  } finally {
    await rm(index, { force: true });
  }
}

async function copyIndex(sourceGitDir: string, index: string): Promise<void> {
  await using source = await SafeDirectory.open(sourceGitDir);
  // SECURITY: opened without following, because the name may be a link to a file that only we can read.
  const file = await source.openFile("index").catch(() => undefined);
  if (file === undefined) return;
  try {
    const { atimeMs, mtimeMs } = await file.stat();
    await writeFile(index, await readFile(file));
    // Git reads a file again that is as young as its index. A younger copy would hide a change of the same size that
    // was made in the same second. Whole seconds, because rounding must not make it younger either.
    await utimes(index, Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000));
  } finally {
    await file.close();
  }
}

/** Brings the paths into the clone as they are in the source. Returns how many could not come along. */
export async function carryUncommitted(
  paths: readonly string[],
  source: string,
  target: string,
  limits: CopyLimits,
): Promise<number> {
  await using from = await SafeDirectory.open(source);
  await using to = await SafeDirectory.open(target);
  const budget = new CopyBudget(limits);
  // First everything that is there no longer makes room, then what is new comes in.
  for (const path of paths) await removePath(to, path);
  let leftBehind = 0;
  for (const path of paths) {
    if (!(await carryPath(from, to, path, budget))) leftBehind++;
  }
  return leftBehind;
}

async function removePath(to: SafeDirectory, path: string): Promise<void> {
  const { parents, name } = split(path);
  const parent = await openBelow(to, parents, false);
  if (parent === undefined) return;
  try {
    await rm(parent.at(name), { recursive: true, force: true });
  } finally {
    if (parent !== to) await parent[Symbol.asyncDispose]();
  }
}

async function carryPath(
  from: SafeDirectory,
  to: SafeDirectory,
  path: string,
  budget: CopyBudget,
): Promise<boolean> {
  // A repository inside this one is reported as a directory, and a name that is not UTF-8 cannot be found again.
  if (path.endsWith("/") || path.includes("\uFFFD")) return false;
  const { parents, name } = split(path);
  const source = await openBelow(from, parents, false);
  if (source === undefined) return true;
  try {
    const found = await lstat(source.at(name)).catch(() => undefined);
    // Deleted, or a directory now, whose files have lines of their own.
    if (found === undefined || found.isDirectory()) return true;
    const target = (await openBelow(to, parents, true))!;
    try {
      return (await copyEntry(source, target, name, budget)) === "copied";
    } finally {
      if (target !== to) await target[Symbol.asyncDispose]();
    }
  } finally {
    if (source !== from) await source[Symbol.asyncDispose]();
  }
}

function split(path: string): { readonly parents: readonly string[]; readonly name: string } {
  const names = path.split("/").filter((part) => part !== "");
  return { parents: names.slice(0, -1), name: names.at(-1)! };
}
