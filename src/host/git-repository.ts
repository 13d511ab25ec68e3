/**
 * Finds the repository a host directory belongs to, without running git and without believing what the directory
 * says about other repositories.
 */
import { lstat, readFile, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { AgentBoxError } from "../base/errors.ts";
import { pathKind } from "./files.ts";
import { git } from "./git.ts";

export interface HostRepository {
  /** The directory with the files; undefined for a bare repository. */
  readonly top: string | undefined;
  readonly gitDir: string;
  /** Where what all worktrees share is; the same as `gitDir` unless this is one of several. */
  readonly commonDir: string;
}

export interface RepositorySettings {
  readonly objectFormat: "sha1" | "sha256";
  readonly user: { readonly name: string; readonly email: string };
  /** The person's own list of ignored files (core.excludesFile). */
  readonly excludesFile: string;
}

export const isHostGitRepository = async (directory: string): Promise<boolean> =>
  (await findRepository(directory)) !== undefined;

/** The repository of the directory itself or of the nearest one above it. */
export async function findRepository(directory: string): Promise<HostRepository | undefined> {
  const start = await realpath(directory);
  // SECURITY: a repository planted above by another user, such as /tmp/.git, is not the one that was meant.
  const trusted = new Set([(await lstat(start)).uid, process.getuid?.(), 0]);
  for (let current = start; ; current = dirname(current)) {
    const found = await lstat(join(current, ".git")).catch(() => undefined);
    if (found && trusted.has(found.uid)) return await openRepository(current, found.isFile());
    if (
      trusted.has((await lstat(join(current, "HEAD")).catch(() => undefined))?.uid) &&
      (await isBare(current))
    ) {
      await requireOwnParts(current, current);
      return { top: undefined, gitDir: current, commonDir: current };
    }
    if (current === dirname(current)) return undefined;
  }
}

async function isBare(directory: string): Promise<boolean> {
  const kinds = await Promise.all(["HEAD", "objects", "refs"].map((name) => pathKind(join(directory, name))));
  return kinds.join() === "file,dir,dir";
}

/**
 * SECURITY: a directory from the internet may hold a `.git` file or link that names another repository of this
 * person, and the box would be given that one. So a pointer counts only when the other side points back.
 */
async function openRepository(top: string, isFile: boolean): Promise<HostRepository | undefined> {
  const dotGit = join(top, ".git");
  if (isFile) {
    const pointer = /^gitdir: (.+)\n?$/.exec(await readFile(dotGit, "utf8"))?.[1];
    const gitDir = pointer && (await realpath(resolve(top, pointer)).catch(() => undefined));
    if (gitDir && (await pointsBack(gitDir, top))) {
      const commonDir = await commonDirOf(gitDir, top);
      await requireOwnParts(commonDir, top);
      return { top, gitDir, commonDir };
    }
    throw sourceInvalid(top, "names a repository elsewhere that does not name it in return");
  }
  if ((await pathKind(dotGit)) !== "dir")
    throw sourceInvalid(top, "has a .git that is neither a directory nor a file");
  if ((await pathKind(join(dotGit, "HEAD"))) === undefined) return undefined;
  await requireOwnParts(dotGit, top);
  if (await pathKind(join(dotGit, "commondir"))) throw sourceInvalid(top, "keeps its git objects elsewhere");
  return { top, gitDir: dotGit, commonDir: dotGit };
}

/** SECURITY: only a worktree has one, and lies in it; any directory can hold a file that names another repository. */
async function commonDirOf(gitDir: string, top: string): Promise<string> {
  const text = await readFile(join(gitDir, "commondir"), "utf8").catch(() => undefined);
  if (text === undefined) return gitDir;
  const commonDir = await realpath(resolve(gitDir, text.trim())).catch(() => "");
  if (gitDir === join(commonDir, "worktrees", basename(gitDir))) return commonDir;
  throw sourceInvalid(top, "takes its git objects from a repository that does not name it");
}

/** SECURITY: through a link in here a directory from the internet would give the box another repository's history. */
async function requireOwnParts(commonDir: string, top: string): Promise<void> {
  const lies = (what: string) => sourceInvalid(top, `keeps its git ${what} elsewhere`);
  for (const part of ["objects", "refs"])
    if ((await pathKind(join(commonDir, part))) !== "dir") throw lies(part);
  if (![undefined, "file"].includes(await pathKind(join(commonDir, "packed-refs")))) throw lies("refs");
  for (const part of ["refs", "reftable"]) {
    const kind = await pathKind(join(commonDir, part));
    if (kind === undefined) continue;
    const entries = kind === "dir" ? await readdir(join(commonDir, part), deep) : undefined;
    if (entries?.some((entry) => entry.isSymbolicLink()) !== false) throw lies("refs");
  }
}

const deep = { recursive: true, withFileTypes: true } as const;

/** A worktree is named in the repository's `gitdir` file, a submodule in its `core.worktree`. */
async function pointsBack(gitDir: string, top: string): Promise<boolean> {
  const worktree = await readFile(join(gitDir, "gitdir"), "utf8").catch(() => undefined);
  if (worktree !== undefined) {
    return (await realpath(resolve(gitDir, worktree.trim())).catch(() => "")) === join(top, ".git");
  }
  const { stdout } = await git(["config", "--get", "core.worktree"], { gitDir, cwd: gitDir });
  return stdout !== "" && (await realpath(resolve(gitDir, stdout.trim())).catch(() => "")) === top;
}

/** Reads the config that is in force for the person; reading runs nothing. */
export async function readSettings(gitDir: string, userHome: string): Promise<RepositorySettings> {
  const env = { HOME: userHome, GIT_CONFIG_GLOBAL: join(userHome, ".gitconfig") };
  const { stdout } = await git(["config", "--list", "-z", "--includes"], { gitDir, cwd: gitDir, env });
  const values = new Map<string, string>();
  for (const entry of stdout.split("\0")) {
    const end = entry.indexOf("\n");
    if (end > 0) values.set(entry.slice(0, end), entry.slice(end + 1));
  }
  // SECURITY: the objects such a repository lacks are fetched by commands that its config names; older gits do so
  // even for a local clone.
  if (
    values.has("extensions.partialclone") ||
    [...values.keys()].some((key) => /^remote\..*\.promisor$/.test(key))
  ) {
    throw new AgentBoxError(
      "workspace.source_invalid",
      "The repository is a partial clone and cannot be cloned further.",
      {
        hint: "Fetch the rest with: git fetch --refetch --no-filter, or use the workspace mode copy.",
      },
    );
  }
  const excludes = values.get("core.excludesfile")?.replace(/^~(?=\/)/, userHome);
  return {
    objectFormat: values.get("extensions.objectformat") === "sha256" ? "sha256" : "sha1",
    user: {
      name: values.get("user.name") ?? "AgentBox",
      email: values.get("user.email") ?? "agent@agentbox.invalid",
    },
    excludesFile: excludes ?? join(userHome, ".config/git/ignore"),
  };
}

export const sourceInvalid = (source: string, problem: string, hint?: string): AgentBoxError =>
  new AgentBoxError("workspace.source_invalid", `The directory ${source} ${problem}.`, {
    hint: hint ?? "Choose another directory, or another workspace mode.",
    facts: { source },
  });
