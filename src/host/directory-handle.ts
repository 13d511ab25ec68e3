/**
 * An open directory. Names are looked up in the directory that was opened, not in whatever its path means by now:
 * somebody who swaps a directory for a link between check and use redirects nothing.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { AgentBoxError, systemCode } from "../base/errors.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

export class DirectoryHandle implements AsyncDisposable {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** The path is the caller's own and may lead through links. */
  static async open(path: string): Promise<DirectoryHandle> {
    return new DirectoryHandle(await open(path, O_RDONLY | O_DIRECTORY));
  }

  /** Where `name` in this directory can be reached; only the last component is ever looked up. */
  at(name: string): string {
    checkName(name);
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  /** SECURITY: O_NOFOLLOW, so that a link in the place of a directory is an error and not a way out. */
  async openDirectory(name: string): Promise<DirectoryHandle> {
    return new DirectoryHandle(await open(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  /** SECURITY: O_NONBLOCK, because opening a planted fifo would otherwise wait for ever. */
  openToRead(name: string): Promise<FileHandle> {
    return open(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  names(): Promise<string[]> {
    return readdir(`/proc/self/fd/${this.#handle.fd}`);
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
}

export const isPlainName = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name) && Buffer.byteLength(name) <= 255;

function checkName(name: string): void {
  if (isPlainName(name)) return;
  throw new AgentBoxError("file.unsafe_path", `${JSON.stringify(name)} is not the name of a file.`);
}

/** Whether an open failed because there was a link where O_NOFOLLOW or O_DIRECTORY wanted none. */
export const isLinkRefusal = (error: unknown): boolean =>
  ["ELOOP", "ENOTDIR"].includes(systemCode(error) ?? "");
