/**
 * Takes a bundle that a box has written. It is hostile until every check has passed: form, size, each object, each
 * path, and that it holds what it refers to. Only then do its objects and its reference become part of the review.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatBytes } from "../../base/bytes.ts";
import { isAgentBoxError, systemCode } from "../../base/errors.ts";
import type { TakenBundle } from "../../ports/review.ts";
import { type BundleHeader, badBundle, maxHeaderBytes, parseBundleHeader } from "./bundle-header.ts";
import { splitBytes } from "./byte-lines.ts";
import { requireSent } from "./connectivity.ts";
import { PackIndex } from "./pack-index.ts";
import { Quarantine } from "./quarantine.ts";
import { type ReviewGit, reasonOf } from "./review-git.ts";

export interface TakeRequest {
  readonly bundleFile: string;
  readonly number: number;
  /** The bound on its objects here; a pack can grow by the objects that it builds on. */
  readonly maxBytes?: number | undefined;
  readonly base: string;
  /** Every commit that was ever offered to the box as known. */
  readonly have: readonly string[];
  readonly format: "sha1" | "sha256";
}

export async function takeBundle(git: ReviewGit, request: TakeRequest): Promise<TakenBundle> {
  await using quarantine = await Quarantine.open(git.gitDir);
  const inside = git.within(quarantine.objects, git.limits.takeTimeoutMs);
  const { snapshot, index } = await unpack(inside, quarantine, request);
  await requireSizes(inside, index);
  const [type] = (await checked(inside.text(["cat-file", "-t", snapshot]))).split("\n");
  if (type !== "commit") throw badBundle(`its snapshot is a ${type}`);
  await checked(requireSent(inside, { snapshot, index, have: request.have }));
  await checked(requireReadable(inside, request.base, snapshot));
  const described = await checked(
    inside.text(["log", "-1", "--no-show-signature", "--format=%T %P", snapshot]),
  );
  const [tree, head = snapshot] = described.trim().split(" ");
  const bytes = await quarantine.admit(request.maxBytes);
  await git.text(["update-ref", `refs/agentbox/checkpoints/${request.number}`, snapshot]);
  return { commit: snapshot, tree: tree!, head, bytes };
}

/** Puts the pack into quarantine; git looks at each object on the way. */
async function unpack(
  git: ReviewGit,
  quarantine: Quarantine,
  { bundleFile, have, format }: TakeRequest,
): Promise<{ snapshot: string; index: PackIndex }> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(bundleFile, flags).catch((error: unknown) => {
    throw badBundle(`it could not be opened (${systemCode(error)})`, error);
  });
  try {
    const { size } = await file.stat();
    const { maxBytes } = git.limits;
    if (size > maxBytes) throw badBundle(`it is larger than ${formatBytes(maxBytes)}`);
    const header = await readHeader(file, format);
    await requireKnown(git, header.prerequisites, have);
    await requireCount(file, header.length, git.limits.maxObjects);
    const name = await indexPack(git, file);
    const idBytes = format === "sha256" ? 32 : 20;
    // The pack ends with its digest; what git adds to it takes that place.
    const sentBytes = size - header.length - idBytes;
    const index = join(quarantine.objects, "pack", `pack-${name}.idx`);
    return { snapshot: header.snapshot, index: await PackIndex.read(index, idBytes, sentBytes) };
  } finally {
    await file.close();
  }
}

/**
 * A bundle may build on any commit of the history that we have, where its commits meet it. SECURITY: not on any object
 * that can be seen from here: the project's other branches can be, too.
 */
async function requireKnown(
  git: ReviewGit,
  prerequisites: readonly string[],
  have: readonly string[],
): Promise<void> {
  const known = new Set(have);
  const others = prerequisites.filter((id) => !known.has(id));
  if (others.length === 0) return;
  const stdin = [...others, ...have.map((id) => `^${id}`), ""].join("\n");
  const outside = await git.text(["rev-list", "--max-count=1", "--stdin"], { stdin }).catch(() => others[0]!);
  const unknown = outside.trim();
  if (unknown !== "") throw badBundle(`it builds on the commit ${unknown}, which is not known here`);
}

/** Leaves the file where the pack begins. */
async function readHeader(file: FileHandle, format: "sha1" | "sha256"): Promise<BundleHeader> {
  let bytes = Buffer.alloc(64 << 10);
  let { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  if (!bytes.subarray(0, bytesRead).includes("\n\n") && bytesRead === bytes.length) {
    bytes = Buffer.alloc(maxHeaderBytes);
    ({ bytesRead } = await file.read(bytes, 0, bytes.length, 0));
  }
  const header = parseBundleHeader(bytes.subarray(0, bytesRead), format);
  // Reading moves the file's offset, at which a child then starts; Node has no seek.
  await file.read(Buffer.alloc(header.length), 0, header.length, null);
  return header;
}

async function requireCount(file: FileHandle, start: number, maxObjects: number): Promise<void> {
  const head = Buffer.alloc(12);
  const { bytesRead } = await file.read(head, 0, head.length, start);
  if (bytesRead < head.length || head.toString("latin1", 0, 4) !== "PACK") throw badBundle("it has no pack");
  if (head.readUInt32BE(8) > maxObjects) throw badBundle(`it has more than ${maxObjects} objects`);
}

/** Faults that old histories are full of and that are harmless. */
const tolerated = ["zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate"];

/**
 * SECURITY: --strict looks into each object: trees whose names are `.git` or look like it to another file system,
 * `..`, empty or with a slash; names and addresses of submodules; broken links between objects. An object that is
 * small here and huge when unpacked meets the limit on git's memory.
 */
async function indexPack(git: ReviewGit, file: FileHandle): Promise<string> {
  const strict = `--strict=${tolerated.map((name) => `${name}=ignore`).join(",")}`;
  const limit = `--max-input-size=${git.limits.maxBytes}`;
  const running = git.start(["index-pack", strict, limit, "--fix-thin", "--stdin"], {}, file.fd);
  let output = "";
  for await (const chunk of running.stdout) output += String(chunk);
  const end = await running.ended;
  if (end.code !== 0) throw badBundle(reasonOf(end));
  const name = /^pack\t([0-9a-f]+)\n$/.exec(output)?.[1];
  if (name === undefined) throw badBundle("git did not say what it has made of it");
  return name;
}

async function requireSizes(git: ReviewGit, index: PackIndex): Promise<void> {
  const { maxBlobBytes } = git.limits;
  const running = git.start(["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"]);
  const feeding = pipeline(Readable.from(index.lines()), running.stdin!).catch(() => undefined);
  let seen = 0;
  try {
    for await (const line of splitBytes(running.stdout, "\n")) {
      const [id, size] = line.toString("latin1").split(" ");
      if (!(Number(size) <= maxBlobBytes)) {
        throw badBundle(`its object ${id} is larger than ${formatBytes(maxBlobBytes)}`);
      }
      seen++;
    }
  } finally {
    running.kill();
    await feeding;
  }
  if (seen !== index.count)
    throw badBundle(`its objects could not be read: ${reasonOf(await running.ended)}`);
}

/** As deep as newer gits go; older ones fall over somewhat later. */
const maxDepth = 2_000;

/** SECURITY: what could be taken but not compared would stand in the way of every review that follows. */
async function requireReadable(git: ReviewGit, base: string, snapshot: string): Promise<void> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", base, snapshot, "--"];
  for await (const path of splitBytes(git.stream(args), "\0")) {
    if (path.toString("latin1").split("/").length > maxDepth)
      throw badBundle("its directories are nested too deeply");
  }
}

/** If git cannot read an object there, the bundle is at fault. */
async function checked<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (isAgentBoxError(error, "review.failed")) throw badBundle(error.message.replace(/\.$/, ""), error);
    throw error;
  }
}
