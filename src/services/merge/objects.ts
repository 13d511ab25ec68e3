/**
 * Brings objects from one store to another as a pack, with every object checked on arrival. No references come along,
 * and no repository ever reads the other's config.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { gitStepFailed } from "./failure.ts";
import { guardedGit, guardedGitOk } from "./guarded-git.ts";
import type { ScratchRepository } from "./scratch-repository.ts";
import { type MergeTarget, requireObjectId } from "./target.ts";

/** The same number as git's own for what it fetches. */
const unpackLimit = 100;

/**
 * SECURITY: the daemon reads its own review repository, which no other user can, and hands over an open file; strict,
 * so that `.git` as a name, two entries of one name and every other malformed object is refused here once more.
 */
export async function bringIn(
  scratch: ScratchRepository,
  reviewGitDir: string,
  work: { readonly base: string; readonly tips: readonly string[] },
): Promise<void> {
  const base = requireObjectId(work.base);
  const hasBase = (await scratch.git(["cat-file", "-e", `${base}^{tree}`])).code === 0;
  const wanted = [...work.tips.map(requireObjectId), hasBase ? `^${base}` : base];
  await using pack = await PackFile.create(scratch);
  const args = ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"];
  const packed = await guardedGit(args, {
    gitDir: reviewGitDir,
    cwd: reviewGitDir,
    stdin: `${wanted.join("\n")}\n`,
    stdoutFd: pack.fd,
  });
  if (packed.code !== 0) throw gitStepFailed("pack-objects", packed);
  await scratch.ok(["index-pack", "--stdin", "--strict"], { stdinFd: await pack.reader() });
}

/** Puts into the person's store what `tip` needs and is not there yet. */
export async function bringOver(
  scratch: ScratchRepository,
  { repository: { commonDir, gitDir }, person }: MergeTarget,
  tip: string,
  known: string | undefined,
): Promise<void> {
  await using pack = await PackFile.create(scratch);
  const wanted = known === undefined ? [tip] : [tip, `^${known}`];
  await scratch.ok(["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"], {
    stdin: `${wanted.join("\n")}\n`,
    stdoutFd: pack.fd,
  });
  // Few objects become files of their own, as a commit would make them; many stay together.
  const isLarge = (await pack.objectCount()) > unpackLimit;
  await guardedGitOk(isLarge ? ["index-pack", "--stdin", "--strict"] : ["unpack-objects", "-q", "--strict"], {
    gitDir,
    cwd: commonDir,
    person,
    stdinFd: await pack.reader(),
  });
}

/**
 * SECURITY: has no name as soon as it is open, so that no other file can be put in its place between writing and
 * reading, although the directory belongs to the person.
 */
class PackFile implements AsyncDisposable {
  readonly #written: FileHandle;
  #read: FileHandle | undefined;

  private constructor(written: FileHandle) {
    this.#written = written;
  }

  static async create(scratch: ScratchRepository): Promise<PackFile> {
    const path = join(scratch.gitDir, "passing.pack");
    const written = await open(path, "wx", 0o600);
    await rm(path, { force: true });
    return new PackFile(written);
  }

  get fd(): number {
    return this.#written.fd;
  }

  /** As its header has it. */
  async objectCount(): Promise<number> {
    await this.reader();
    const { buffer } = await this.#read!.read(Buffer.alloc(4), 0, 4, 8);
    return buffer.readUInt32BE();
  }

  /** From its beginning; the one that was written with is at its end. */
  async reader(): Promise<number> {
    this.#read ??= await open(`/proc/self/fd/${this.fd}`, "r");
    return this.#read.fd;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#read?.close();
    await this.#written.close();
  }
}
