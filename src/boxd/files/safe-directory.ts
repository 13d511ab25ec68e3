import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  symlink,
  unlink,
} from "node:fs/promises";
import { AgentBoxError, systemCode } from "../../base/errors.ts";

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY;
const { O_NOFOLLOW, O_NONBLOCK, O_CREAT, O_EXCL, O_WRONLY, O_RDONLY } = constants;

/**
 * An open directory whose entries are reached through its descriptor. SECURITY: the agent can swap any directory of
 * a path for a symbolic link between two steps; a descriptor stays what it was, and no name below it is followed.
 */
export class SafeDirectory implements AsyncDisposable {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** The root of an operation, named by the person who asked; only what is below it is not followed. */
  static async open(path: string): Promise<SafeDirectory> {
    return new SafeDirectory(await open(path, directoryFlags));
  }

  async enter(name: string): Promise<SafeDirectory> {
    try {
      return new SafeDirectory(await open(this.#at(name), directoryFlags | O_NOFOLLOW));
    } catch (error) {
      throw (await this.#isLink(name)) ? linkInTheWay(name) : error;
    }
  }

  /** Enters a directory and makes it when it is not there. */
  async ensure(name: string): Promise<SafeDirectory> {
    try {
      await mkdir(this.#at(name), 0o755);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    return this.enter(name);
  }

  list(): Promise<string[]> {
    return readdir(this.#at("."));
  }

  stat(name: string): ReturnType<typeof lstat> {
    return lstat(this.#at(name));
  }

  readLink(name: string): Promise<string> {
    return readlink(this.#at(name));
  }

  /** Non-blocking, so that a pipe put in the file's place cannot hold boxd up. */
  openFile(name: string): Promise<FileHandle> {
    return open(this.#at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** Writes beside the name and renames: what was there, link or file, is replaced and never written through. */
  async replaceFile(name: string, mode: number, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    await this.#replace(name, async (temporary) => {
      const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      try {
        await fill(file);
        await file.chmod(mode & 0o777);
      } finally {
        await file.close();
      }
    });
  }

  async replaceLink(name: string, target: string): Promise<void> {
    await this.#replace(name, (temporary) => symlink(target, temporary));
  }

  async chmod(mode: number): Promise<void> {
    await this.#handle.chmod(mode & 0o777);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #replace(name: string, make: (temporary: string) => Promise<void>): Promise<void> {
    const temporary = this.#at(`.agentbox-${randomBytes(8).toString("hex")}`);
    try {
      await make(temporary);
      await rename(temporary, this.#at(name));
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  async #isLink(name: string): Promise<boolean> {
    try {
      return (await lstat(this.#at(name))).isSymbolicLink();
    } catch {
      return false;
    }
  }

  #at(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }
}

const linkInTheWay = (name: string): AgentBoxError =>
  new AgentBoxError("file.unsafe_path", `${name} is a symbolic link, and links are not followed.`);
