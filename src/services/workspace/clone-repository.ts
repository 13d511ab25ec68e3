/**
 * A private clone: the history of HEAD, the branches and tags of the source, and nothing that leads back to it. No
 * shared objects, no remote, no path of the host, no config and no hooks of the source.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { visibleStandIns } from "../../contract/guarded-paths.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import { CopyBudget, type CopyLimits, copyEntry, openBelow } from "./copy-tree.ts";
import { gitOk, git } from "../../host/git.ts";
import { gitConfigValue } from "../../base/git-config-value.ts";
import { type HostRepository, type RepositorySettings, readSettings } from "../../host/git-repository.ts";
import {
  borrowedObjects,
  bringHistory,
  dropForeignBoundaries,
  notSynced,
  readSourceRefs,
  writeRefs,
} from "./source-history.ts";
import { carryUncommitted, listUncommitted } from "./uncommitted.ts";
import { pathKind } from "../../host/files.ts";

/**
 * Which submodules a clone has: the entries of its HEAD that name a commit of another repository and that
 * `.gitmodules` tells the address of. Read from objects, never from files that a link could stand in for.
 */
async function listSubmodules(gitDir: string, target: string): Promise<readonly string[]> {
  // Most repositories have none, and need not wait for git to say so.
  if ((await pathKind(join(target, ".gitmodules"))) === undefined) return [];
  const options = { gitDir, cwd: gitDir } as const;
  const key = String.raw`^submodule\..*\.path$`;
  const named = await git(["config", "--blob", "HEAD:.gitmodules", "-z", "--get-regexp", key], options);
  if (named.code !== 0) return [];
  const paths = records(named.stdout)
    .map((record) => record.slice(record.indexOf("\n") + 1))
    .filter((path) => path.length < maxPathLength);
  // SECURITY: a path is a path, also when it is called ":(exclude)*".
  const env = { GIT_LITERAL_PATHSPECS: "1" };
  const found = await git(["ls-tree", "-z", "--full-tree", "HEAD", "--", ...paths.slice(0, maxPaths)], {
    ...options,
    env,
  });
  return records(found.stdout)
    .filter((record) => record.startsWith("160000 "))
    .map((record) => record.slice(record.indexOf("\t") + 1));
}

/** SECURITY: more than a command line holds would let a repository stop its own clone. */
const maxPaths = 200;
const maxPathLength = 1_024;

const records = (text: string): readonly string[] => text.split("\0").filter((record) => record !== "");

export interface CloneOptions {
  readonly repository: HostRepository;
  readonly target: string;
  /** A valid box name, so it is safe as part of a branch name. */
  readonly box: string;
  readonly carry: "none" | "dirty";
  readonly userHome: string;
  readonly limits: CopyLimits;
}

export async function cloneRepository(options: CloneOptions): Promise<PreparedWorkspace> {
  const { repository, target, limits } = options;
  const { gitDir, settings, refs, env } = await beginRepository(options);
  const [uncommitted] = await allDone([
    findUncommitted(repository, gitDir, settings.excludesFile, env),
    bringHistory(repository, gitDir, refs, env),
    refs.head === undefined ? undefined : checkOut(gitDir, target, env),
  ]);
  await dropForeignBoundaries(gitDir);
  const base =
    refs.head === undefined
      ? {}
      : { baseCommit: refs.head, emptySubmodules: await listSubmodules(gitDir, target) };
  if (options.carry === "none" || repository.top === undefined)
    return { ...base, leftBehind: uncommitted.length };
  return { ...base, leftBehind: await carryUncommitted(uncommitted, repository.top, target, limits) };
}

/**
 * A git directory of the box's own for a workspace that is the person's directory: the same history, on the same branch,
 * and no files. Undefined before the first commit.
 */
export async function makeOwnGit(
  options: Omit<CloneOptions, "carry">,
): Promise<Pick<PreparedWorkspace, "baseCommit">> {
  const { repository } = options;
  const { gitDir, refs, env } = await beginRepository(options);
  await bringHistory(repository, gitDir, refs, env);
  if (refs.head !== undefined) await gitOk(["read-tree", refs.head], { gitDir, cwd: gitDir, env });
  await dropForeignBoundaries(gitDir);
  const exclude = join(gitDir, "info/exclude");
  const known = await readFile(exclude, "utf8").catch(() => "");
  await writeFile(exclude, `${known}\n${visibleStandIns.map((name) => `/${name}\n`).join("")}`);
  return omitUndefined({ baseCommit: refs.head });
}

async function beginRepository({ repository, target, box, userHome, limits }: Omit<CloneOptions, "carry">) {
  const [settings, refs] = await Promise.all([
    readSettings(repository.gitDir, userHome),
    readSourceRefs(repository),
  ]);
  const gitDir = join(target, ".git");
  const branch = `refs/heads/agentbox/${box}`;
  await makeEmptyRepository(gitDir, branch, settings);
  await Promise.all([
    copyPlainFile(repository.commonDir, ["info"], "exclude", join(gitDir, "info"), limits),
    copyPlainFile(repository.commonDir, [], "shallow", gitDir, limits),
    writeRefs(gitDir, branch, refs),
  ]);
  return { gitDir, settings, refs, env: borrowedObjects(repository.commonDir) };
}

/** Like Promise.all, but never while one of them still writes: the caller removes the target when this fails. */
async function allDone<T extends readonly unknown[]>(
  work: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/**
 * The same files as `git init` makes, without its templates; one process less saves a tenth of the time of a small
 * clone.
 */
async function makeEmptyRepository(
  gitDir: string,
  branch: string,
  settings: RepositorySettings,
): Promise<void> {
  for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"]) {
    await mkdir(join(gitDir, part), { recursive: true });
  }
  const isSha256 = settings.objectFormat === "sha256";
  const lines = [
    "[core]",
    `\trepositoryformatversion = ${isSha256 ? 1 : 0}`,
    "\tfilemode = true",
    "\tbare = false",
    "\tlogallrefupdates = true",
    ...(isSha256 ? ["[extensions]", "\tobjectformat = sha256"] : []),
    "[user]",
    `\tname = ${gitConfigValue(settings.user.name)}`,
    `\temail = ${gitConfigValue(settings.user.email)}`,
  ];
  await writeFile(join(gitDir, "config"), `${lines.join("\n")}\n`);
  await writeFile(join(gitDir, "HEAD"), `ref: ${branch}\n`);
}

/** A file of the source's repository that is only data: what the person has excluded, or where history ends. */
async function copyPlainFile(
  commonDir: string,
  below: readonly string[],
  name: string,
  targetDir: string,
  limits: CopyLimits,
): Promise<void> {
  await using common = await SafeDirectory.open(commonDir);
  await using target = await SafeDirectory.open(targetDir);
  // SECURITY: a link in place of either name could make any file of the host part of the clone.
  const directory = await openBelow(common, below, false);
  if (directory === undefined) return;
  await copyEntry(directory, target, name, new CopyBudget(limits), { links: false });
  if (directory !== common) await directory[Symbol.asyncDispose]();
}

async function findUncommitted(
  { top, gitDir }: HostRepository,
  cloneGitDir: string,
  excludesFile: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  return top === undefined
    ? []
    : await listUncommitted({ top, sourceGitDir: gitDir, cloneGitDir, excludesFile, env });
}

const checkOut = (gitDir: string, target: string, env: Readonly<Record<string, string>>): Promise<string> =>
  gitOk(["reset", "--quiet", "--hard"], {
    gitDir,
    cwd: target,
    env: { ...env, GIT_WORK_TREE: target, GIT_REFLOG_ACTION: "agentbox: cloned" },
    config: { "checkout.workers": "0", ...notSynced },
  });
