/**
 * Forges, from the host: git over https, and the API for pull requests. One credential for one call; it is in no
 * argument, no file and no message, and goes to the host of the repository only. Redirects are not followed.
 */
import { openApi } from "./api-call.ts";
import { openGitea } from "./gitea.ts";
import { openGithub } from "./github.ts";
import { openGitlab } from "./gitlab.ts";
import { push } from "./push.ts";
import type { Forges, RemoteRepository, RemoteState } from "../../ports/forge.ts";
import { join } from "node:path";
import { git } from "../../host/git.ts";
import { findRepository } from "../../host/git-repository.ts";
import { openPushingRepository } from "./pushing-repository.ts";
import { requireBranchName } from "./branch-name.ts";
import { type RemoteGitOptions, remoteFailed, remoteGit } from "./remote-git.ts";

/** The state of a remote before anything is sent: its default branch, and where the branches in question are. */
async function look(
  remote: RemoteRepository,
  branches: readonly string[],
  options: RemoteGitOptions,
): Promise<RemoteState> {
  const wanted = new Map(branches.map((name) => [`refs/heads/${requireBranchName(name)}`, name]));
  await using scratch = await openPushingRepository();
  const args = ["ls-remote", "--symref", "--quiet", "--", remote.url, "HEAD", ...wanted.keys()];
  const result = await remoteGit(scratch.gitDir, args, remote, options);
  if (result.code !== 0) throw remoteFailed(result, remote);
  const tips = new Map<string, string>();
  let defaultBranch: string | undefined;
  for (const line of result.stdout.split("\n")) {
    const [value = "", name = ""] = line.split("\t");
    // A pattern finds names that only end like it, too.
    const branch = wanted.get(name);
    if (branch !== undefined && /^[0-9a-f]+$/.test(value)) tips.set(branch, value);
    if (name === "HEAD") defaultBranch = /^ref: refs\/heads\/(.+)$/.exec(value)?.[1] ?? defaultBranch;
  }
  return { defaultBranch, tips };
}

/**
 * The address of a remote, read from the project's own config file alone. Reading it runs no program and asks no one.
 */
async function findRemote(projectDir: string, name: string): Promise<string | undefined> {
  const repository = await findRepository(projectDir);
  if (repository === undefined) return undefined;
  const { commonDir } = repository;
  for (const key of ["pushurl", "url"]) {
    // As with git itself, one that is for pushing wins. Rewriting by `url.*.insteadOf` is no part of this.
    const args = ["config", "--file", join(commonDir, "config"), "--null", "--get", `remote.${name}.${key}`];
    const { code, stdout } = await git(args, { gitDir: commonDir, cwd: commonDir });
    const [url] = stdout.split("\0");
    if (code === 0 && url) return url;
  }
  return undefined;
}

export interface ForgesOptions {
  /** A company's proxy that everything must go through; may hold a password. */
  readonly upstreamProxy?: string | undefined;
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 5 * 60_000;
const apiTimeoutMs = 30_000;

export function openForges({ upstreamProxy, timeoutMs = usualTimeoutMs }: ForgesOptions): Forges {
  const git = { proxy: upstreamProxy, timeoutMs };
  const api = openApi({ proxy: upstreamProxy, timeoutMs: Math.min(apiTimeoutMs, timeoutMs) });
  const openers = { github: openGithub, gitlab: openGitlab, gitea: openGitea };
  return {
    findRemote,
    look: (remote, branches) => look(remote, branches, git),
    push: (order) => push(order, git),
    openPullRequest: (order) => openers[order.forge](order, api),
  };
}
