/**
 * Copies files from the host into a workspace: links as links, nothing that is not a file, directory or link, and
 * never more than the budget. Both sides are walked by open directories, so a link swapped in leads nowhere.
 */
import { constants } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readlink, rm, symlink } from "node:fs/promises";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { formatBytes } from "../../base/bytes.ts";
import { SafeDirectory, isLinkRefusal } from "../../safe-path/safe-directory.ts";

export interface CopyLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

export class CopyBudget {
  readonly #limits: CopyLimits;
  #files = 0;
  #bytes = 0;

  constructor(limits: CopyLimits) {
    this.#limits = limits;
  }

  take(bytes: number): void {
    this.#files++;
    this.#bytes += bytes;
    const { maxFiles, maxBytes } = this.#limits;
    if (this.#files <= maxFiles && this.#bytes <= maxBytes) return;
    const limit = this.#files > maxFiles ? `${maxFiles} files` : formatBytes(maxBytes);
    throw new AgentBoxError("workspace.source_invalid", `The workspace source holds more than ${limit}.`, {
      hint: "Choose a smaller directory, make it a git repository, or use the workspace mode mount.",
    });
  }
}

/** Enough to keep the disk busy, and few open files. */
const parallelFiles = 16;

export async function copyDirectory(
  from: SafeDirectory,
  to: SafeDirectory,
  budget: CopyBudget,
): Promise<void> {
  const directories: string[] = [];
  const names = await from.names();
  for (let i = 0; i < names.length; i += parallelFiles) {
    const batch = names.slice(i, i + parallelFiles);
    const kinds = await Promise.all(batch.map((name) => copyEntry(from, to, name, budget)));
    directories.push(...batch.filter((_, n) => kinds[n] === "dir"));
  }
  for (const name of directories) {
    await using source = await from.openDirectory(name);
    await mkdir(to.at(name), { mode: 0o700 });
    await using target = await to.openDirectory(name);
    await copyDirectory(source, target, budget);
    await target.chmod((await source.mode()) & 0o777);
  }
}

/** Copies a file or a link. Of a directory only the kind is said; what is something else is left out. */
export async function copyEntry(
  from: SafeDirectory,
  to: SafeDirectory,
  name: string,
  budget: CopyBudget,
  { links } = { links: true },
): Promise<"copied" | "dir" | "left_out"> {
  const found = await lstat(from.at(name)).catch(() => undefined);
  if (found === undefined) return "left_out";
  if (found.isDirectory()) return "dir";
  if (found.isSymbolicLink() && links) {
    budget.take(0);
    await symlink(await readlink(from.at(name)), to.at(name));
    return "copied";
  }
  return found.isFile() ? await copyFileContent(from, to, name, budget) : "left_out";
}

async function copyFileContent(
  from: SafeDirectory,
  to: SafeDirectory,
  name: string,
  budget: CopyBudget,
): Promise<"copied" | "left_out"> {
  // SECURITY: a box that has the same directory mounted can swap this file for a link to one that only we may
  // read, so what is copied is the file that was opened without following.
  const file = await from.openFile(name).catch((error: unknown) => {
    if (isLinkRefusal(error) || systemCode(error) === "ENOENT") return undefined;
    throw new AgentBoxError("workspace.source_invalid", `The file ${JSON.stringify(name)} cannot be read.`, {
      cause: error,
    });
  });
  if (file === undefined) return "left_out";
  try {
    const found = await file.stat();
    if (!found.isFile()) return "left_out";
    budget.take(found.size);
    const { COPYFILE_EXCL, COPYFILE_FICLONE } = constants;
    await copyFile(`/proc/self/fd/${file.fd}`, to.at(name), COPYFILE_EXCL | COPYFILE_FICLONE);
    // Neither setuid nor setgid comes along.
    if ((found.mode & 0o7000) !== 0) await chmod(to.at(name), found.mode & 0o777);
    return "copied";
  } finally {
    await file.close();
  }
}

/**
 * Opens a directory below `root` step by step; undefined when there is none. With `make`, missing directories are made
 * and other entries give way: a tracked link where the work has a directory must not lead the copy out.
 */
export async function openBelow(
  root: SafeDirectory,
  names: readonly string[],
  make: boolean,
): Promise<SafeDirectory | undefined> {
  let current = root;
  for (const name of names) {
    const next = await openStep(current, name, make);
    if (current !== root) await current[Symbol.asyncDispose]();
    if (next === undefined) return undefined;
    current = next;
  }
  return current;
}

async function openStep(
  parent: SafeDirectory,
  name: string,
  make: boolean,
): Promise<SafeDirectory | undefined> {
  try {
    return await parent.openDirectory(name);
  } catch (error) {
    if (!isLinkRefusal(error) && systemCode(error) !== "ENOENT") throw error;
    if (!make) return undefined;
    await rm(parent.at(name), { force: true });
    await mkdir(parent.at(name));
    return await parent.openDirectory(name);
  }
}
