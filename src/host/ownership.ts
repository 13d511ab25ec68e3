/**
 * Files that are taken as an order (manifest, lock file, config, ...) must be the reader's own or root's, and no other
 * user may be able to write them or the directory they lie in. The open file is checked, not its path. A person can
 * name directories of which everything is taken, with any owner.
 */
import { type Stats, constants } from "node:fs";
import { type FileHandle, lstat, open, readFile, realpath } from "node:fs/promises";
import { basename, dirname, sep } from "node:path";
import { formatBytes } from "../base/bytes.ts";
import { AgentBoxError, isAgentBoxError, messageOf, systemCode } from "../base/errors.ts";

export interface Reader {
  readonly uid: number;
  readonly gid: number;
  /** Who called sudo: their files are those of the person who typed the command. */
  readonly sudoUid: number | undefined;
}

/** A person's exceptions: directories of which everything is taken, and the file that names them. */
export interface OrderTrust {
  readonly file: string;
  readonly directories: readonly string[];
}

export interface ReadOrder {
  readonly maxBytes: number;
  /** A link in place of the file is followed; the link must be the reader's own, too. Otherwise it is no file. */
  readonly followsLinks?: boolean;
}

/** O_PATH: says what is there and does nothing with it; a directory that we may pass and not list is opened, too. */
const pathOnly = 0o10000000;

type Facts = Pick<Stats, "uid" | "gid" | "mode">;

/** The reason why another user decides its content; undefined when none does. */
export function ownershipProblem(
  { uid, gid, mode }: Facts,
  reader: Reader,
  kind: "file" | "directory",
  isPrivateGroup: boolean,
): string | undefined {
  const own = [0, reader.uid, ...(reader.uid === 0 && reader.sudoUid !== undefined ? [reader.sudoUid] : [])];
  if (!own.includes(uid)) return `belongs to user ${uid}`;
  // In a sticky directory, such as /tmp, others can add files and cannot replace ours.
  if (kind === "directory" && (mode & 0o1000) !== 0) return undefined;
  if ((mode & 0o002) !== 0) return "can be written by everybody";
  // With a umask of 002 everything is writable for the person's own group, of which they are the only member.
  return (mode & 0o020) !== 0 && gid !== 0 && !isPrivateGroup ? `can be written by group ${gid}` : undefined;
}

export class OrderFiles {
  readonly #reader: Reader;
  readonly #trust: (() => Promise<OrderTrust>) | undefined;

  /** `trust` is asked only when something would be refused; without it there is no exception. */
  constructor(reader: Reader, trust?: () => Promise<OrderTrust>) {
    this.#reader = reader;
    this.#trust = trust;
  }

  /** The text; undefined without such a file. Throws `file.foreign` where another user decides its content. */
  async read(path: string, { maxBytes, followsLinks = false }: ReadOrder): Promise<string | undefined> {
    try {
      await using directory = await open(dirname(path), pathOnly | constants.O_DIRECTORY);
      // SECURITY: below the directory that was opened, so that another one put into its place changes nothing.
      const inside = `/proc/self/fd/${directory.fd}/${basename(path)}`;
      const links = followsLinks ? 0 : constants.O_NOFOLLOW;
      // SECURITY: not opened before it is known to be a file: opening is an act for a device, such as a watchdog.
      await using located = await open(inside, pathOnly | links);
      const found = await located.stat();
      if (!found.isFile()) return followsLinks ? refuseKind(path) : undefined;
      const problem =
        (await this.#problemOf(found, "file")) ??
        (await this.#problemOf(await directory.stat(), "directory")) ??
        (followsLinks ? await this.#linkProblem(inside) : undefined);
      if (problem !== undefined) await this.#requireTrust(path, dirname(path), problem);
      await using file = await open(`/proc/self/fd/${located.fd}`, constants.O_RDONLY);
      return await readBounded(file, path, maxBytes);
    } catch (error) {
      if (isAgentBoxError(error)) throw error;
      const isAbsent = ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
      if (isAbsent || !followsLinks) return undefined;
      throw new AgentBoxError("file.failed", `${path} cannot be read: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }

  /**
   * Throws `file.foreign` where another user decides the content of this file or directory. An absent one belongs to no
   * one.
   */
  async requireOwn(path: string): Promise<void> {
    const file = await open(path, pathOnly).catch(() => undefined);
    if (file === undefined) return;
    await using opened = file;
    await this.requireOwnFile(path, opened);
  }

  /** The same of a file that is open. */
  async requireOwnFile(path: string, file: FileHandle): Promise<void> {
    const found = await file.stat();
    if (found.isDirectory()) {
      const problem = await this.#problemOf(found, "directory");
      return problem === undefined ? undefined : this.#requireTrust(path, path, problem);
    }
    await using directory = await open(dirname(path), pathOnly | constants.O_DIRECTORY);
    const problem =
      (await this.#problemOf(found, "file")) ?? (await this.#problemOf(await directory.stat(), "directory"));
    if (problem !== undefined) await this.#requireTrust(path, dirname(path), problem);
  }

  async #problemOf(facts: Facts, kind: "file" | "directory"): Promise<string | undefined> {
    const mayBePrivate = (facts.mode & 0o020) !== 0 && facts.gid === this.#reader.gid;
    const problem = ownershipProblem(
      facts,
      this.#reader,
      kind,
      mayBePrivate && (await isPrivateGroup(this.#reader)),
    );
    if (problem === undefined || kind === "file") return problem;
    return `lies in a directory that ${problem}`;
  }

  /** SECURITY: in /tmp another user's link could make a file of the reader's own an order that it was not meant as. */
  async #linkProblem(path: string): Promise<string | undefined> {
    const found = await lstat(path);
    if (!found.isSymbolicLink()) return undefined;
    // The mode of a link means nothing.
    const problem = ownershipProblem(
      { uid: found.uid, gid: found.gid, mode: 0 },
      this.#reader,
      "file",
      false,
    );
    return problem === undefined ? undefined : `is a link that ${problem}`;
  }

  async #requireTrust(path: string, directory: string, problem: string): Promise<void> {
    const trust = await this.#trust?.();
    if (trust !== undefined && (await isWithinAny(directory, trust.directories))) return;
    throw new AgentBoxError("file.foreign", `${path} is not taken as an order: it ${problem}.`, {
      hint:
        trust === undefined
          ? "Make it your own, and writable only for you."
          : `Use a directory of your own. If all users who can write there may give orders to your boxes, add this to ${trust.file}: [trust] directories = [${JSON.stringify(directory)}]`,
      facts: { path, problem },
    });
  }
}

async function isWithinAny(directory: string, trusted: readonly string[]): Promise<boolean> {
  const real = await realpath(directory).catch(() => undefined);
  for (const one of trusted) {
    const above = await realpath(one).catch(() => undefined);
    if (real === undefined || above === undefined) continue;
    if (real === above || real.startsWith(above.endsWith(sep) ? above : above + sep)) return true;
  }
  return false;
}

async function readBounded(file: FileHandle, path: string, maxBytes: number): Promise<string> {
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < buffer.length; length += read)
    ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
  if (length <= maxBytes) return buffer.toString("utf8", 0, length);
  throw new AgentBoxError("input.too_large", `${path} is larger than ${formatBytes(maxBytes)}.`, {
    hint: "Make it smaller, or remove it.",
  });
}

function refuseKind(path: string): never {
  throw new AgentBoxError("file.failed", `${path} cannot be read: it is no ordinary file.`);
}

/** Whether the reader's own group has no other user in it, as far as the files of this host tell. */
async function isPrivateGroup({ uid, gid }: Reader): Promise<boolean> {
  const [users = "", groups = ""] = await Promise.all(
    ["/etc/passwd", "/etc/group"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const accounts = users.split("\n").map((line) => line.split(":"));
  const name = accounts.find(([, , id]) => Number(id) === uid)?.[0];
  const isShared = accounts.some(([, , id, group]) => Number(group) === gid && Number(id) !== uid);
  const group = groups.split("\n").find((line) => Number(line.split(":")[2] ?? "-1") === gid);
  const members = (group?.split(":")[3] ?? "").split(",").filter((member) => member !== "");
  return !isShared && group !== undefined && members.every((member) => member === name);
}
