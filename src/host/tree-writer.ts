/**
 * Writes a tree from a stream that may be hostile. Nothing is ever written outside the root, for any stream and any
 * concurrent change of the destination. The names of the stream never choose the root: the caller does.
 */
import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, mkdir, open, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../base/errors.ts";
import { printable } from "../base/printable.ts";
import { SafeDirectory, isLinkRefusal, isPlainName } from "../safe-path/safe-directory.ts";
import type { SkippedEntry, TreeEntry } from "./tree-entry.ts";

export interface TreeWriterOptions {
  /** The name the tree gets when the destination is a directory that exists; the person asked for it by this name. */
  readonly name: string;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

export interface WrittenTree {
  readonly entries: number;
  readonly bytes: number;
  readonly skipped: readonly SkippedEntry[];
}

/** Each level is an open directory. */
const maxDepth = 200;

/** Like cp: into the destination if it is a directory, otherwise under exactly that name. */
export async function openTreeWriter(destination: string, options: TreeWriterOptions): Promise<TreeWriter> {
  const path = resolve(destination);
  const isDirectory = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const [parent, name] = isDirectory ? [path, options.name] : [dirname(path), basename(path)];
  if (!isPlainName(name)) throw unsafe(name, "is not the name of a file");
  try {
    return new TreeWriter(await SafeDirectory.open(parent), name, options);
  } catch (error) {
    throw new AgentBoxError("file.not_found", `There is no directory ${parent} to write into.`, {
      cause: error,
    });
  }
}

interface OpenFile {
  readonly path: string;
  readonly parent: SafeDirectory;
  readonly name: string;
  readonly temporary: string;
  readonly handle: FileHandle;
  left: number;
}

export class TreeWriter implements AsyncDisposable {
  readonly #root: string;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** The open directories from the parent of the root down to where the last entry was. */
  readonly #open: { readonly name: string; readonly handle: SafeDirectory }[];
  readonly #seen = new Set<string>();
  readonly #links: { readonly names: readonly string[]; readonly target: string }[] = [];
  readonly #narrow: { readonly names: readonly string[]; readonly mode: number }[] = [];
  readonly #skipped: SkippedEntry[] = [];
  #streamRoot: string | undefined;
  #file: OpenFile | undefined;
  #bytes = 0;

  constructor(parent: SafeDirectory, root: string, options: TreeWriterOptions) {
    this.#open = [{ name: "", handle: parent }];
    this.#root = root;
    this.#maxEntries = options.maxEntries ?? 1_000_000;
    this.#maxBytes = options.maxBytes ?? Number.MAX_SAFE_INTEGER;
  }

  async entry(entry: TreeEntry): Promise<void> {
    await this.#finishFile();
    const names = this.#names(entry);
    switch (entry.kind) {
      case "dir":
        return await this.#makeDirectory(names, entry.mode);
      case "file":
        return await this.#openFile(names, entry);
      case "symlink":
        this.#keepLink(names, entry);
    }
  }

  async data(chunk: Uint8Array): Promise<void> {
    const file = this.#file;
    if (!file || chunk.length > file.left) throw failed("The stream holds more data than it announced.");
    for (let done = 0; done < chunk.length; ) done += (await file.handle.write(chunk, done)).bytesWritten;
    file.left -= chunk.length;
  }

  /** Completes the tree: the last file, then the links, then modes that would have been in the way. */
  async end(): Promise<WrittenTree> {
    await this.#finishFile();
    for (const link of this.#links) await this.#makeLink(link.names, link.target);
    for (const { names, mode } of this.#narrow.reverse()) await (await this.#enter(names)).chmod(mode);
    return { entries: this.#seen.size, bytes: this.#bytes, skipped: this.#skipped };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file) {
      await file.handle.close();
      await rm(file.parent.at(file.temporary), { force: true });
    }
    for (const { handle } of this.#open.splice(0).reverse()) await handle[Symbol.asyncDispose]();
  }

  /** SECURITY: the only place where a path of the stream is read; everything below works on checked names. */
  #names({ path, size, mode }: TreeEntry): readonly string[] {
    const [first, ...rest] = path.split("/");
    if (path.length > 4096 || !first || ![first, ...rest].every(isPlainName)) {
      throw unsafe(path, "is not a relative path without . and ..");
    }
    if (rest.length >= maxDepth) throw unsafe(path, `is more than ${maxDepth} directories deep`);
    this.#streamRoot ??= first;
    if (first !== this.#streamRoot) throw unsafe(path, "lies outside the root of the copy");
    // SECURITY: a second entry of the same name could swap what the first one made.
    if (this.#seen.has(path)) throw unsafe(path, "comes twice");
    if (!Number.isSafeInteger(size) || size < 0 || !Number.isInteger(mode))
      throw failed("An entry has no valid size.");
    if (this.#seen.size >= this.#maxEntries || this.#bytes + size > this.#maxBytes) {
      throw new AgentBoxError("input.too_large", "The copy is larger than its limit.");
    }
    this.#seen.add(path);
    return [this.#root, ...rest];
  }

  /** The open directory that `names` lead to from the parent of the root. */
  async #enter(names: readonly string[]): Promise<SafeDirectory> {
    let depth = 0;
    while (depth < names.length && this.#open[depth + 1]?.name === names[depth]) depth++;
    for (const { handle } of this.#open.splice(depth + 1).reverse()) await handle[Symbol.asyncDispose]();
    let current = this.#open[depth]!.handle;
    for (const name of names.slice(depth)) {
      current = await openChild(current, name, names);
      this.#open.push({ name, handle: current });
    }
    return current;
  }

  async #makeDirectory(names: readonly string[], mode: number): Promise<void> {
    const parent = await this.#enter(names.slice(0, -1));
    try {
      // The owner can always write while the tree grows; the umask takes away what it must. No setuid, no setgid.
      await mkdir(parent.at(names.at(-1)!), { mode: (mode & 0o777) | 0o700 });
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw ioError(names, error);
      await this.#enter(names);
      return;
    }
    const made = await (await this.#enter(names)).mode();
    const wanted = made & (mode | 0o077);
    if (wanted !== made) this.#narrow.push({ names, mode: wanted });
  }

  async #openFile(names: readonly string[], { mode, size }: TreeEntry): Promise<void> {
    const parent = await this.#enter(names.slice(0, -1));
    const temporary = `.agentbox-${randomBytes(9).toString("hex")}.part`;
    try {
      const handle = await open(parent.at(temporary), "wx", mode & 0o777);
      this.#file = { path: names.join("/"), parent, name: names.at(-1)!, temporary, handle, left: size };
    } catch (error) {
      throw ioError(names, error);
    }
    this.#bytes += size;
  }

  async #finishFile(): Promise<void> {
    const file = this.#file;
    if (!file) return;
    if (file.left > 0) throw failed("The stream holds less data than it announced.");
    const existing = await lstat(file.parent.at(file.name)).catch(() => undefined);
    if (existing && !existing.isFile()) {
      const where = printable(file.path);
      throw new AgentBoxError(
        "file.exists",
        `${where} exists and is not a regular file, so it is not replaced.`,
      );
    }
    this.#file = undefined;
    await file.handle.close();
    // A rename replaces the name and never writes through it, so a link put there meanwhile is replaced too.
    await rename(file.parent.at(file.temporary), file.parent.at(file.name));
  }

  /** SECURITY: links are made when everything else is written, so no entry can be written through one. */
  #keepLink(names: readonly string[], { path, target = "" }: TreeEntry): void {
    if (staysInside(target, names.length - 2)) this.#links.push({ names, target });
    else
      this.#skipped.push({ path, reason: `it is a link that leads out of the copy (${printable(target)})` });
  }

  async #makeLink(names: readonly string[], target: string): Promise<void> {
    const parent = await this.#enter(names.slice(0, -1));
    const link = parent.at(names.at(-1)!);
    try {
      await symlink(target, link);
    } catch (error) {
      const existing = await readlink(link).catch(() => undefined);
      if (existing !== target) this.#skipped.push({ path: names.join("/"), reason: messageOf(error) });
    }
  }
}

/**
 * SECURITY: ".." only at the front, and no more of them than the link lies deep. "dir/link/.." is refused as well:
 * if that inner link points upwards, the whole leads out although the text of it does not.
 */
export function staysInside(target: string, depth: number): boolean {
  if (target === "" || target.startsWith("/") || target.includes("\0") || depth < 0) return false;
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const down = parts.findIndex((part) => part !== "..");
  const ups = down === -1 ? parts.length : down;
  return ups <= depth && !parts.slice(ups).includes("..");
}

async function openChild(
  parent: SafeDirectory,
  name: string,
  names: readonly string[],
): Promise<SafeDirectory> {
  try {
    return await parent.openDirectory(name);
  } catch (error) {
    if (isLinkRefusal(error))
      throw unsafe(names.join("/"), "leads through something that is not a directory");
    throw ioError(names, error);
  }
}

const unsafe = (path: string, problem: string): AgentBoxError =>
  new AgentBoxError(
    "file.unsafe_path",
    `The path ${JSON.stringify(printable(path.slice(0, 200)))} ${problem}.`,
  );

const failed = (message: string): AgentBoxError => new AgentBoxError("file.failed", message);

const ioError = (names: readonly string[], error: unknown): AgentBoxError =>
  new AgentBoxError(
    "file.failed",
    `${printable(names.join("/"))} could not be written: ${systemCode(error)}.`,
    {
      cause: error,
    },
  );
