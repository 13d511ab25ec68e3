/**
 * A private clone: the history of HEAD, the branches and tags of the source, and nothing that leads back to it. No
 * shared objects, no remote, no path of the host, no config and no hooks of the source.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DirectoryHandle } from "../../host/directory-handle.ts";
import type { PreparedWorkspace } from "../../ports/workspace.ts";
import { CopyBudget, type CopyLimits, copyEntry, openBelow } from "./copy-tree.ts";
import { git, gitFailed, gitOk, uploadPack } from "./host-git.ts";
import { type HostRepository, type RepositorySettings, readSettings } from "./host-repository.ts";
import { carryUncommitted, listUncommitted } from "./uncommitted.ts";

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
  const { repository, target, box } = options;
  const settings = await readSettings(repository.gitDir, options.userHome);
  const gitDir = join(target, ".git");
  const branch = `refs/heads/agentbox/${box}`;
  await makeEmptyRepository(gitDir, branch, settings);
  await copyExcludes(repository.commonDir, gitDir, options.limits);
  const hasCommits = await fetchSource(repository.gitDir, gitDir, branch);
  // The comparison needs the clone's objects, not its files, so both go on at once.
  const [uncommitted] = await Promise.all([
    findUncommitted(repository, gitDir, settings.excludesFile),
    hasCommits ? checkOut(gitDir, target) : undefined,
  ]);
  const base = hasCommits ? { baseCommit: (await readFile(join(gitDir, branch), "utf8")).trim() } : {};
  if (options.carry === "none" || repository.top === undefined)
    return { ...base, leftBehind: uncommitted.length };
  return { ...base, leftBehind: await carryUncommitted(uncommitted, repository.top, target, options.limits) };
}

/** What `git init` would make, without its templates; a process less is a tenth of the time of a small clone. */
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
    `\tname = ${quoted(settings.user.name)}`,
    `\temail = ${quoted(settings.user.email)}`,
  ];
  await writeFile(join(gitDir, "config"), `${lines.join("\n")}\n`);
  await writeFile(join(gitDir, "HEAD"), `ref: ${branch}\n`);
}

/** SECURITY: the value comes from the source's config and must not become a line of its own in the clone's. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[\u0000-\u001f\u007f]/g, " ").replaceAll(/[\\"]/g, String.raw`\$&`)}"`;

/** What the person has excluded stays excluded in the box. */
async function copyExcludes(commonDir: string, gitDir: string, limits: CopyLimits): Promise<void> {
  await using common = await DirectoryHandle.open(commonDir);
  await using target = await DirectoryHandle.open(join(gitDir, "info"));
  // SECURITY: a link in the place of either name could make any file of the host part of the clone.
  const info = await openBelow(common, ["info"], false);
  if (info === undefined) return;
  await copyEntry(info, target, "exclude", new CopyBudget(limits), { links: false });
  await info[Symbol.asyncDispose]();
}

/** False when the source has no commit yet. */
async function fetchSource(source: string, gitDir: string, branch: string): Promise<boolean> {
  const refspecs = [`+HEAD:${branch}`, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
  const quiet = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
  const result = await git(
    [
      "fetch",
      ...quiet,
      "--update-shallow",
      "--update-head-ok",
      `--upload-pack=${uploadPack}`,
      "--",
      source,
      ...refspecs,
    ],
    // No reflog: it would hold the path of the source.
    { gitDir, cwd: gitDir, config: { "core.logAllRefUpdates": "false", "protocol.version": "0" } },
  );
  if (result.code === 0) return true;
  if (result.stderr.includes("couldn't find remote ref HEAD")) return false;
  throw gitFailed("fetch", result);
}

async function findUncommitted(
  { top, gitDir }: HostRepository,
  cloneGitDir: string,
  excludesFile: string,
): Promise<readonly string[]> {
  return top === undefined
    ? []
    : await listUncommitted({ top, sourceGitDir: gitDir, cloneGitDir, excludesFile });
}

const checkOut = (gitDir: string, target: string): Promise<string> =>
  gitOk(["reset", "--quiet", "--hard"], {
    gitDir,
    cwd: target,
    env: { GIT_WORK_TREE: target, GIT_REFLOG_ACTION: "agentbox: cloned" },
  });
