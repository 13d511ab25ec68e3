/**
 * A directory that only its owner can look into, and its files. A file is replaced as a whole or not at all, and is on
 * the disk when the call returns; whatever the umask, no one else can read it.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, chmod, link, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";

const { O_RDONLY, O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
const temporaryName = /^\.[0-9a-f]{12}\.tmp$/;

interface FileBytes {
  readonly bytes: Buffer;
  readonly stamp: string;
}

export class PrivateDirectory {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** False when the file does not exist. */
  async check(): Promise<boolean> {
    // SECURITY: lstat, because with a link another user would decide where secrets are kept.
    const found = await attempt(`${this.path} cannot be looked at`, () => lstat(this.path), "ENOENT");
    if (found === undefined) return false;
    if (!found.isDirectory()) throw unsafe(this.path, "is not a directory");
    if (found.uid !== process.geteuid?.()) throw unsafe(this.path, `belongs to user ${found.uid}`);
    if ((found.mode & 0o077) !== 0) throw unsafe(this.path, "can be reached by others", "700");
    return true;
  }

  async ensure(): Promise<void> {
    if (await this.check()) return;
    await attempt(`${this.path} cannot be made`, () => mkdir(this.path, { mode: 0o700 }), "EEXIST");
    // The umask may have taken something away that the owner needs.
    await chmod(this.path, 0o700);
    await this.check();
  }

  /** Undefined when there is no such file. */
  async read(name: string, maxBytes: number): Promise<FileBytes | undefined> {
    const file = await this.#open(name, O_RDONLY);
    if (file === undefined) return undefined;
    try {
      const stamp = await checkFile(file, join(this.path, name), maxBytes);
      return { stamp, bytes: await attempt(`${name} cannot be read`, () => file.readFile()) };
    } finally {
      await file.close();
    }
  }

  /** Changes whenever the file does; undefined when there is none. */
  async stampOf(name: string): Promise<string | undefined> {
    const path = join(this.path, name);
    const found = await attempt(`${path} cannot be looked at`, () => lstat(path, { bigint: true }), "ENOENT");
    return found && stampOf(found);
  }

  /** Open for as long as a lock on it is needed. */
  async openLockFile(name: string): Promise<FileHandle> {
    const file = await this.#open(name, O_RDWR | O_CREAT);
    if (file === undefined) throw unsafe(this.path, "has gone");
    try {
      await file.chmod(0o600);
      await checkFile(file, join(this.path, name), Number.MAX_SAFE_INTEGER);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  /** Writes beside the file and onto the disk; `place` then puts it there. */
  async stage(bytes: Buffer): Promise<string> {
    const name = `.${randomBytes(6).toString("hex")}.tmp`;
    await attempt("The vault cannot be written", async () => {
      const file = await open(join(this.path, name), "wx", 0o600);
      try {
        await file.chmod(0o600);
        await file.writeFile(bytes);
        await file.sync();
      } catch (error) {
        await this.remove(name);
        throw error;
      } finally {
        await file.close();
      }
    });
    return name;
  }

  async place(staged: string, name: string): Promise<void> {
    await attempt("The vault cannot be written", async () => {
      await rename(join(this.path, staged), join(this.path, name));
      // The new name is in the directory, so that is what must be on the disk too.
      await using directory = await open(this.path, constants.O_DIRECTORY);
      await directory.sync();
    });
  }

  /** A second name for a file, in place of what had that name; the file itself stays where it is. */
  async keep(name: string, as: string): Promise<void> {
    const temporary = `.${randomBytes(6).toString("hex")}.tmp`;
    await attempt("The vault cannot be written", async () => {
      await link(join(this.path, name), join(this.path, temporary));
      await rename(join(this.path, temporary), join(this.path, as));
      // Two names of one file already: rename then leaves both.
      await this.remove(temporary);
    });
  }

  remove(name: string): Promise<void> {
    return rm(join(this.path, name), { force: true });
  }

  /** Leftovers of a process that ended while it wrote; only for the holder of the lock. */
  async removeLeftovers(): Promise<void> {
    const names = await attempt("The vault cannot be read", () => readdir(this.path));
    for (const name of names) if (temporaryName.test(name)) await this.remove(name);
  }

  async #open(name: string, flags: number): Promise<FileHandle | undefined> {
    const path = join(this.path, name);
    try {
      // SECURITY: a link is not followed and a pipe is not waited for, should one have been planted.
      return await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      if (systemCode(error) === "ELOOP") throw unsafe(path, "is a symbolic link");
      throw failed(`${path} cannot be opened`, error);
    }
  }
}

async function checkFile(file: FileHandle, path: string, maxBytes: number): Promise<string> {
  const found = await file.stat({ bigint: true });
  if (!found.isFile()) throw unsafe(path, "is not a file");
  if (Number(found.uid) !== process.geteuid?.()) throw unsafe(path, `belongs to user ${found.uid}`);
  if ((Number(found.mode) & 0o077) !== 0) throw unsafe(path, "can be read by others", "600");
  if (found.size > maxBytes) throw unsafe(path, "is larger than it can be");
  return stampOf(found);
}

const stampOf = (found: { ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint }): string =>
  `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;

async function attempt<T>(what: string, action: () => Promise<T>): Promise<T>;
async function attempt<T>(what: string, action: () => Promise<T>, mayBe: string): Promise<T | undefined>;
async function attempt<T>(what: string, action: () => Promise<T>, mayBe?: string): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (mayBe !== undefined && systemCode(error) === mayBe) return undefined;
    throw failed(what, error);
  }
}

const failed = (what: string, cause: unknown): AgentBoxError =>
  new AgentBoxError("vault.failed", `${what}: ${systemCode(cause) ?? messageOf(cause)}.`, { cause });

/** Refused and not repaired: what others could reach may have been read or planted already. */
const unsafe = (path: string, problem: string, mode?: string): AgentBoxError =>
  new AgentBoxError("vault.failed", `The vault cannot be used: ${path} ${problem}.`, {
    hint:
      mode === undefined
        ? "Remove it, or put back what belongs there."
        : `Find out who has read it, then run: chmod ${mode} ${path}`,
    facts: { path },
  });
