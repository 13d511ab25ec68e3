/**
 * Brings the history of a source into a clone: what its HEAD, branches and tags reach, in packs of the clone's own.
 * No object that nothing leads to, no shared file, no second check of what the source has checked.
 */
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type GitOptions, git, gitFailed, gitOk } from "../../host/git.ts";
import type { HostRepository } from "../../host/git-repository.ts";
import { copyPacks, findLargePacks, readPack, type SourcePack } from "./source-packs.ts";

export interface SourceRefs {
  /** Undefined before the first commit. */
  readonly head: string | undefined;
  /** Branches and tags, as the source names them. Every byte of a name is one character. */
  readonly named: readonly { readonly name: string; readonly oid: string }[];
  /** Where the source's own remotes were when it last looked. They are no refs of the clone. */
  readonly tracked: readonly string[];
}

/** A box that is lost with the power is made again; waiting for the disk would be most of the time of a clone. */
export const notSynced = { "core.fsync": "none" } as const;

/** Only what lies loose in the source is compressed anew, and that need not be small. */
const packConfig = { "pack.compression": "1", ...notSynced };

export async function readSourceRefs({ gitDir }: HostRepository): Promise<SourceRefs> {
  const options = { gitDir, cwd: gitDir, encoding: "latin1" } as const;
  const [head, list] = await Promise.all([
    git(["rev-parse", "--verify", "--quiet", "HEAD"], options),
    gitOk(
      ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/tags/", "refs/remotes/"],
      options,
    ),
  ]);
  const all = list
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ oid: line.slice(0, line.indexOf(" ")), name: line.slice(line.indexOf(" ") + 1) }));
  const isTracked = ({ name }: { readonly name: string }) => name.startsWith("refs/remotes/");
  if (head.code !== 0 && head.code !== 1) throw gitFailed("rev-parse", head);
  return {
    head: head.code === 0 ? head.stdout.trim() : undefined,
    named: all.filter((ref) => !isTracked(ref)),
    tracked: all.filter(isTracked).map(({ oid }) => oid),
  };
}

/** The source's branches are `origin/*` in the clone; its HEAD is the clone's own branch. */
export async function writeRefs(gitDir: string, branch: string, { head, named }: SourceRefs): Promise<void> {
  const lines = named.map(
    ({ name, oid }) => `${oid} ${name.replace(/^refs\/heads\//, "refs/remotes/origin/")}`,
  );
  if (lines.length > 0) await writeFile(join(gitDir, "packed-refs"), `${lines.join("\n")}\n`, "latin1");
  if (head === undefined) return;
  await mkdir(dirname(join(gitDir, branch)), { recursive: true });
  await writeFile(join(gitDir, branch), `${head}\n`);
}

/**
 * Lets one git process read the source's objects while it works in the clone. Nothing of this is written down, and
 * the source's config plays no part. Quoted, because a path may hold the character that parts two of them.
 */
export const borrowedObjects = (commonDir: string): Readonly<Record<string, string>> => ({
  GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${join(commonDir, "objects").replaceAll(/[\\"]/g, String.raw`\$&`)}"`,
  // SECURITY: a planted list of parents would make other commits part of the history.
  GIT_GRAFT_FILE: "/dev/null",
});

/**
 * Everything the refs reach. Packs that hold only such objects are copied as they are, which is by far the fastest; the
 * rest goes into a new pack, without being unpacked where it is packed already. In packs that are copied, objects of
 * the source's remote branches count as given: a clone from a server has all of them in one pack.
 * SECURITY: a pack with anything more is not copied, because that may be what was dropped from history and is only
 * not yet deleted. Never a hard link: without root the box's user is the person, who owns the source's files and
 * could change them through the link.
 */
export async function bringHistory(
  { commonDir }: HostRepository,
  gitDir: string,
  refs: SourceRefs,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const tips = new Set([
    ...(refs.head === undefined ? [] : [refs.head]),
    ...refs.named.map(({ oid }) => oid),
  ]);
  if (tips.size === 0) return;
  const optionsFor = (ids: Iterable<string>): GitOptions => ({
    gitDir,
    cwd: gitDir,
    env,
    stdin: `${[...ids].join("\n")}\n`,
    config: packConfig,
  });
  const packDir = join(gitDir, "objects/pack");
  const large = await findLargePacks(join(commonDir, "objects/pack"));
  const given = optionsFor(new Set([...tips, ...refs.tracked]));
  if (large.length > 0 && (await bringWithCopies(large, packDir, given))) return;
  await packReachable([], packDir, optionsFor(tips));
}

/**
 * Exact when what is reachable, less what had to be packed beside the copies, is as many as the copies hold. False,
 * with nothing left behind, when the packs hold more.
 */
async function bringWithCopies(
  packs: readonly SourcePack[],
  packDir: string,
  options: GitOptions,
): Promise<boolean> {
  const args = ["rev-list", "--objects", "--count", "--use-bitmap-index", "--stdin"];
  const count = await git(args, options);
  // A remote branch may lead to what is not here; without it the clone is made all the same.
  if (count.code !== 0) return false;
  const [reachable, copied] = [Number(count.stdout), packs.reduce((sum, { objects }) => sum + objects, 0)];
  if (reachable < copied) return false;
  if (await copyPacks(packs, packDir)) {
    const beside = await packReachable(packs, packDir, options);
    if (reachable - beside.objects === copied) return true;
  }
  for (const file of await readdir(packDir)) await rm(join(packDir, file));
  return false;
}

/** Packs what the refs reach and the given packs do not hold. Says how many objects that is. */
async function packReachable(
  except: readonly SourcePack[],
  packDir: string,
  options: GitOptions,
): Promise<{ readonly objects: number }> {
  const flags = [
    "--quiet",
    "--revs",
    "--delta-base-offset",
    "--window=0",
    "--use-bitmap-index",
    "--non-empty",
  ];
  const keep = except.map(({ name }) => `--keep-pack=${name}.pack`);
  const hash = await gitOk(["pack-objects", ...flags, ...keep, join(packDir, "pack")], options);
  if (hash.trim() === "") return { objects: 0 };
  return { objects: (await readPack(packDir, `pack-${hash.trim()}`))?.objects ?? Number.NaN };
}

/** A shallow source may end at commits that the clone's history does not have; a list that names them is in the way. */
export async function dropForeignBoundaries(gitDir: string): Promise<void> {
  const file = join(gitDir, "shallow");
  const text = await readFile(file, "latin1").catch(() => "");
  if (text === "") return await rm(file, { force: true });
  const wanted = text.split("\n").filter((line) => /^[0-9a-f]{40,64}$/.test(line));
  const checked = await gitOk(["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    gitDir,
    cwd: gitDir,
    stdin: `${wanted.join("\n")}\n`,
  });
  const known = checked.split("\n").filter((line) => line.endsWith(" commit"));
  await rm(file, { force: true });
  if (known.length > 0)
    await writeFile(file, known.map((line) => `${line.slice(0, line.indexOf(" "))}\n`).join(""));
}
