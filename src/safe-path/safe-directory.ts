/**
 * An open directory. SECURITY: names are looked up in the directory that was opened, not in whatever its path means by now,
 * and no name is followed through a link: an agent that swaps a directory for a link between check and use redirects nothing.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, symlink, unlink } from "node:fs/promises";
import { AgentBoxError, isAgentBoxError, systemCode } from "../base/errors.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

export class SafeDirectory implements AsyncDisposable {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** The root of an operation, named by the caller; it may lead through links. */
  static async open(path: string): Promise<SafeDirectory> {
    return new SafeDirectory(await open(path, O_RDONLY | O_DIRECTORY));
  }

  /** Where `name` in this directory can be reached; only the last component is ever looked up. */
  at(name: string): string {
    if (!isPlainName(name))
      throw new AgentBoxError("file.unsafe_path", `${JSON.stringify(name)} is not the name of a file.`);
    return `${this.#path}/${name}`;
  }

  /** SECURITY: O_NOFOLLOW, so that a link in place of a directory is an error and not a way out. */
  async openDirectory(name: string): Promise<SafeDirectory> {
    const path = this.at(name);
    try {
      return new SafeDirectory(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    } catch (error) {
      throw (await isLink(path)) ? linkInPath(name, error) : error;
    }
  }

  /** Makes the directory when it is not there. */
  async ensureDirectory(name: string): Promise<SafeDirectory> {
    try {
      await mkdir(this.at(name), 0o755);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    return this.openDirectory(name);
  }

  /** SECURITY: O_NONBLOCK, because opening a fifo in the file's place would otherwise wait for ever. */
  openFile(name: string): Promise<FileHandle> {
    return open(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
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

  names(): Promise<string[]> {
    return readdir(this.#path);
  }

  chmod(mode: number): Promise<void> {
    return this.#handle.chmod(mode);
  }

  async mode(): Promise<number> {
    return (await this.#handle.stat()).mode & 0o7777;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #replace(name: string, make: (temporary: string) => Promise<void>): Promise<void> {
    const path = this.at(name);
    const temporary = this.at(`.agentbox-${randomBytes(8).toString("hex")}`);
    try {
      await make(temporary);
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  get #path(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }
}

export const isPlainName = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && Buffer.byteLength(name) <= 255;

/** Whether an open failed because there was a link where O_NOFOLLOW or O_DIRECTORY wanted none. */
export function isLinkRefusal(error: unknown): boolean {
  const reason = isAgentBoxError(error, "file.unsafe_path") ? error.cause : error;
  return ["ELOOP", "ENOTDIR"].includes(systemCode(reason) ?? "");
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

const linkInPath = (name: string, cause: unknown): AgentBoxError =>
  new AgentBoxError("file.unsafe_path", `${name} is a symbolic link, and links are not followed.`, { cause });
