/** Fills workspaces. The source is only read, nothing of it is executed, and the result belongs to the box alone. */
import { realpath, rm, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { isAgentBoxError, messageOf, AgentBoxError } from "../../base/errors.ts";
import type { WorkspaceSpec } from "../../contract/box.ts";
import { printable } from "../../base/printable.ts";
import { gitOk } from "../../host/git.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";
import { runOk } from "../../host/run.ts";
import type { PreparedWorkspace, Workspaces } from "../../ports/workspace.ts";
import { cloneRepository, makeOwnGit } from "./clone-repository.ts";
import { CopyBudget, type CopyLimits, copyDirectory } from "./copy-tree.ts";
import { findRepository, isHostGitRepository, sourceInvalid } from "../../host/git-repository.ts";

export { isHostGitRepository } from "../../host/git-repository.ts";

export interface WorkspacesOptions {
  readonly isRoot: boolean;
  readonly userHome: string;
  readonly agentboxHome: string;
  readonly limits?: CopyLimits;
}

const defaultLimits: CopyLimits = { maxFiles: 200_000, maxBytes: 2 * 2 ** 30 };

type PrepareOptions = Parameters<Workspaces["prepare"]>[0];

export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  return {
    defaultMode: async (source) => {
      await realDirectory(source);
      return (await isHostGitRepository(source)) ? "clone" : "copy";
    },
    prepare: async (request) => {
      try {
        const prepared = await fill(request, options);
        if (options.isRoot && isFilled(request.spec)) await giveTo(request.owner, request.target);
        return prepared;
      } catch (error) {
        if (isAgentBoxError(error) && error.code.startsWith("workspace.")) throw error;
        const reason = messageOf(error);
        throw new AgentBoxError("workspace.failed", `The workspace could not be prepared: ${reason}`, {
          cause: error,
        });
      }
    },
  };
}

/** Whether there is anything of the host's in the directory afterwards: it is made as the box's own. */
const isFilled = ({ mode, url }: PrepareOptions["spec"]): boolean => url === undefined && mode !== "empty";

async function fill(request: PrepareOptions, options: WorkspacesOptions): Promise<PreparedWorkspace> {
  const { spec, target, box } = request;
  const { limits = defaultLimits, userHome } = options;
  // A repository of the network is cloned by the box itself, through the gate.
  if (spec.mode === "empty" || spec.url !== undefined) return { leftBehind: 0 };
  const named = requireSource(spec);
  const source = await realDirectory(named);
  // SECURITY: what was judged and agreed to was a real path. A link there now was put in its place since.
  if (source !== named) throw sourceInvalid(named, `now leads to ${source}`);
  if (spec.mode === "clone") {
    const repository = await findRepository(source);
    if (repository)
      return await cloneRepository({ repository, target, box, carry: spec.carry, userHome, limits });
    throw sourceInvalid(source, "is not a git repository", "Use the workspace mode copy.");
  }
  await refuseSensitive(source, options);
  if (spec.mode === "copy") {
    await copySource(source, target, limits);
    return { leftBehind: 0 };
  }
  await refuseSubmodules(source);
  // A mounted source is used where it is. SECURITY: its git directory is closed to the box, which gets one of its own.
  return { ...(await tryOwnGit(source, { target, box, userHome, limits })), leftBehind: 0 };
}

/**
 * Only where `.git` is a directory at the top: a linked work tree or a part of a repository has it elsewhere. What cannot be
 * cloned can still be mounted, and the box then makes no commits.
 */
async function tryOwnGit(
  source: string,
  options: Omit<Parameters<typeof makeOwnGit>[0], "repository">,
): ReturnType<typeof makeOwnGit> {
  try {
    const repository = await findRepository(source);
    const gitDir = join(source, ".git");
    if (repository?.top === source && repository.gitDir === gitDir && repository.commonDir === gitDir) {
      const own = await makeOwnGit({ ...options, repository });
      if (own.baseCommit !== undefined) return own;
    }
  } catch (error) {
    if (!isAgentBoxError(error, "workspace.source_invalid")) throw error;
  }
  await rm(join(options.target, ".git"), { recursive: true, force: true });
  return {};
}

/**
 * SECURITY: the person's `git status` runs git in each submodule that their index names, with the config that lies there, also
 * where the submodule was never fetched. Below the top a box could replace it.
 */
async function refuseSubmodules(source: string): Promise<void> {
  const repository = await findRepository(source).catch((error: unknown) => {
    if (isAgentBoxError(error, "workspace.source_invalid")) return undefined;
    throw error;
  });
  if (repository?.top === undefined) return;
  const { gitDir, top } = repository;
  const below = Buffer.from(relative(top, source)).toString("latin1");
  const options = { gitDir, cwd: top, env: { GIT_WORK_TREE: top }, encoding: "latin1" } as const;
  const submodule = (await gitOk(["ls-files", "--stage", "-z"], options))
    .split("\0")
    .filter((record) => record.startsWith("160000 "))
    .map((record) => record.slice(record.indexOf("\t") + 1))
    .find((path) => below === "" || contains(below, path));
  if (submodule === undefined) return;
  const name = printable(Buffer.from(submodule, "latin1").toString());
  throw sourceInvalid(
    source,
    `cannot be mounted: ${name} is a submodule, and the box could change what your git runs there`,
    "Use the workspace mode clone.",
  );
}

async function copySource(source: string, target: string, limits: CopyLimits): Promise<void> {
  await using from = await SafeDirectory.open(source);
  await using to = await SafeDirectory.open(target);
  await copyDirectory(from, to, new CopyBudget(limits));
}

function requireSource({ source, mode }: WorkspaceSpec): string {
  if (source !== undefined) return source;
  throw new AgentBoxError("workspace.source_invalid", `The workspace mode ${mode} needs a source directory.`);
}

async function realDirectory(source: string): Promise<string> {
  const path = await realpath(source).catch((error: unknown) => {
    throw new AgentBoxError("workspace.source_invalid", `There is no directory ${source}.`, { cause: error });
  });
  if ((await stat(path)).isDirectory()) return path;
  throw sourceInvalid(path, "is not a directory");
}

/** SECURITY: these hold keys, other boxes or the daemon's own socket, and are hardly ever meant. */
async function refuseSensitive(source: string, options: WorkspacesOptions): Promise<void> {
  const hint = "Choose the directory of one project.";
  if (source === "/") throw sourceInvalid(source, "is the whole file system", hint);
  const userHome = await realpath(options.userHome).catch(() => options.userHome);
  if (contains(source, userHome)) throw sourceInvalid(source, "holds your whole home directory", hint);
  const agentboxHome = await realpath(options.agentboxHome).catch(() => options.agentboxHome);
  if (contains(source, agentboxHome) || contains(agentboxHome, source)) {
    throw sourceInvalid(source, "belongs to AgentBox itself or holds it", hint);
  }
}

const contains = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);

/** SECURITY: -h and -P, because the tree is full of links from the source that lead anywhere. */
async function giveTo({ uid, gid }: PrepareOptions["owner"], target: string): Promise<void> {
  await runOk(["chown", "-hRP", `${uid}:${gid}`, "--", target], { timeoutMs: 10 * 60_000 });
}
