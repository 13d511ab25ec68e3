/**
 * Work as a file: a patch that `git apply` takes, or a bundle with one branch. The file appears whole or not at all,
 * belongs to the owner of its directory, and is never written through a link.
 */
import { randomBytes } from "node:crypto";
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { SafeDirectory } from "../../safe-path/safe-directory.ts";
import type { ExportOptions, MergeRequest } from "../../ports/merge.ts";
import { gitStepFailed, mergeFailed } from "./failure.ts";
import { guardedGit, guardedGitOk } from "./guarded-git.ts";
import type { DaemonUser } from "./person.ts";
import { ScratchRepository } from "./scratch-repository.ts";
import { requireObjectId } from "./target.ts";

export type ExportedWork = Pick<MergeRequest, "reviewGitDir" | "base" | "commit" | "head">;

export async function exportWork(
  work: ExportedWork,
  format: "patch" | "bundle",
  file: string,
  options: ExportOptions & Pick<DaemonUser, "tempDir">,
): Promise<void> {
  await writeWhole(file, options.overwrite ?? false, async (handle) => {
    await (format === "patch"
      ? writePatch(work, handle.fd)
      : writeBundle(work, branchName(options), handle.fd, options));
  });
}

async function writePatch({ reviewGitDir, base, commit }: ExportedWork, fd: number): Promise<void> {
  const form = [
    "--binary",
    "--full-index",
    "--no-color",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
  ];
  // SECURITY: no program that an attribute of the work names takes part.
  const plain = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short"];
  const range = ["--end-of-options", requireObjectId(base), requireObjectId(commit), "--"];
  const options = { gitDir: reviewGitDir, cwd: reviewGitDir, stdoutFd: fd };
  const result = await guardedGit(["diff", ...form, ...plain, ...range], options);
  if (result.code !== 0) throw gitStepFailed("diff", result);
}

/** In a room of its own: the branch exists for the bundle only, and the review repository keeps its references. */
async function writeBundle(
  work: ExportedWork,
  branch: string,
  fd: number,
  { tempDir }: Pick<DaemonUser, "tempDir">,
): Promise<void> {
  const { reviewGitDir } = work;
  const review = { gitDir: reviewGitDir, cwd: reviewGitDir };
  const isSha256 = (await guardedGitOk(["rev-parse", "--show-object-format"], review)).trim() === "sha256";
  await using scratch = await ScratchRepository.open({
    borrows: join(await realpath(reviewGitDir), "objects"),
    isSha256,
    person: { home: "/nonexistent" },
    tempDir,
  });
  const [base, commit, head] = [work.base, work.commit, work.head].map(requireObjectId) as [
    string,
    string,
    string,
  ];
  const trees = await scratch.ok(["rev-parse", `${commit}^{tree}`, `${head}^{tree}`]);
  const [ofCommit, ofHead] = trees.split("\n");
  const ref = join(scratch.gitDir, "refs/heads", branch);
  await mkdir(dirname(ref), { recursive: true });
  // The snapshot has a commit of its own only for what the agent has not committed.
  await writeFile(ref, `${ofCommit === ofHead ? head : commit}\n`);
  // A base without a past exists only here, so the bundle must bring it along.
  const parents = (await scratch.ok(["rev-list", "--parents", "--max-count=1", base])).trim().split(" ");
  const known = parents.length > 1 ? [`^${base}`] : [];
  const result = await scratch.git(["bundle", "create", "--quiet", "-", `refs/heads/${branch}`, ...known], {
    stdoutFd: fd,
  });
  if (result.code === 0) return;
  if (result.stderr.includes("empty bundle"))
    throw new AgentBoxError("review.nothing", "There is nothing to put into a bundle.", {
      hint: "Let the agent work first.",
    });
  throw gitStepFailed("bundle", result);
}

/** SECURITY: becomes a path and an argument of git. */
function branchName({ branch = "agentbox/work" }: ExportOptions): string {
  if (/^[A-Za-z0-9][\w-]*(?:[./][A-Za-z0-9][\w-]*)*$/.test(branch) && !branch.endsWith(".lock"))
    return branch;
  throw mergeFailed(
    `${JSON.stringify(branch)} cannot be the name of a branch.`,
    "Use letters, digits, - and /.",
  );
}

/**
 * SECURITY: the directory may belong to any user, and names in it may be links to files that only the daemon can write.
 */
async function writeWhole(
  file: string,
  overwrite: boolean,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const path = await realpath(dirname(file)).catch((error: unknown) => {
    throw new AgentBoxError("file.not_found", `There is no directory ${dirname(file)}.`, {
      hint: "Make it first, or choose another file.",
      cause: error,
    });
  });
  await using directory = await SafeDirectory.open(path);
  const target = directory.at(basename(file));
  const found = await lstat(target).catch(() => undefined);
  if (found && !(overwrite && found.isFile())) throw fileTaken(file, found.isFile());
  const temporary = directory.at(`.agentbox-export-${randomBytes(8).toString("hex")}`);
  const handle = await open(temporary, "wx", 0o644);
  try {
    const { uid, gid } = await stat(path);
    if (process.getuid?.() === 0 && uid !== 0) await handle.chown(uid, gid);
    await write(handle);
    await handle.sync();
    if (overwrite) await rename(temporary, target);
    else await link(temporary, target);
  } catch (error) {
    throw systemCode(error) === "EEXIST" ? fileTaken(file, true) : error;
  } finally {
    await handle.close();
    await rm(temporary, { force: true });
  }
}

const fileTaken = (file: string, isFile: boolean): AgentBoxError =>
  new AgentBoxError("merge.failed", `There is already something at ${file}.`, {
    hint: isFile
      ? "Choose another name, or allow it to be replaced."
      : "It is not an ordinary file. Choose another name.",
    facts: { file },
  });
