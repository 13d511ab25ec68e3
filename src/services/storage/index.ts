/**
 * The directories of boxes, below `<home>/boxes`:
 *
 *     <name>/runtime            the driver's records, the daemon's alone
 *     <name>/review.git         what left the box for review, the daemon's alone
 *     <name>/link               socket and boot file, read by the box
 *     <name>/data/home          the box's own; with a disk limit, `data` is a disk
 *     <name>/data/workspace     of that size (`disk.img`) and the paths stay the same
 *
 * and below `<home>/removed`, the daemon's alone:
 *
 *     <id>/review.git           the work of a box that was removed
 *
 * Only valid box names ever become part of a path, and removal follows no link that a box has planted.
 */
import { access, readdir, rename, rmdir, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { BoxName, type BoxOwner, boxPaths } from "../../contract/box.ts";
import { ensureDirectory, pathKind, removeTree, writeFileAtomic } from "../../host/files.ts";
import type { BoxDirs } from "../../ports/runtime.ts";
import type { BoxDiskUse, BoxStorage } from "../../ports/storage.ts";
import {
  createDiskImage,
  mountDiskImage,
  probeDiskLimit,
  remountDiskImage,
  unmountBelow,
} from "./disk-image.ts";
import type { DiskLimit } from "./disk-image.ts";
import { diskUsage, measureEach } from "./disk-usage.ts";
import { mountsBelow } from "./mount-table.ts";
import { readBranch } from "./read-branch.ts";
import { removeBoxTree } from "./remove-box-tree.ts";

export interface StorageOptions {
  readonly boxesDir: string;
  /** Whether boxes have owners of their own, and disks can be mounted. */
  readonly isRoot: boolean;
  /** Files and directories beside those of the boxes, by what they are called in `agentbox df`. */
  readonly shared?: Readonly<Record<string, readonly string[]>> | undefined;
}

export async function openStorage(options: StorageOptions): Promise<BoxStorage> {
  const { boxesDir, isRoot } = options;
  await ensureDirectory(boxesDir, { mode: isRoot ? 0o711 : 0o700 });
  const storage = new HostStorage(options);
  await storage.diskLimit();
  return storage;
}

/**
 * Where npm, pip and most others, cargo and go keep what they have fetched. SECURITY: single names, because du follows
 * no link that it is given, but would follow one on the way.
 */
const cachesInHome = [".npm", ".cache", ".cargo", "go"];

const sumOf = (parts: readonly (number | undefined)[]): number | undefined =>
  parts.reduce((all, one) => (all === undefined || one === undefined ? undefined : all + one), 0);

class HostStorage implements BoxStorage {
  readonly boxesDir: string;
  readonly #isRoot: boolean;
  readonly #shared: NonNullable<StorageOptions["shared"]>;
  #limit: DiskLimit | undefined;
  readonly #removedDir: string;
  readonly #probing = new KeyedMutex();

  constructor({ boxesDir, isRoot, shared = {} }: StorageOptions) {
    this.boxesDir = boxesDir;
    this.#removedDir = join(dirname(boxesDir), "removed");
    this.#isRoot = isRoot;
    this.#shared = shared;
  }

  dirs(name: string): BoxDirs {
    const root = this.#root(name);
    return {
      runtime: join(root, "runtime"),
      link: join(root, "link"),
      home: join(root, "data", "home"),
      workspace: join(root, "data", "workspace"),
    };
  }

  reviewDir(name: string): string {
    return join(this.#root(name), "review.git");
  }

  /** Only a success is kept: loop devices and the programs for file systems may come while the daemon runs. */
  diskLimit(): Promise<DiskLimit> {
    return this.#probing.run("", async () => {
      if (this.#limit?.canEnforce !== true) this.#limit = await probeDiskLimit(this.#isRoot, this.boxesDir);
      return this.#limit;
    });
  }

  async create(name: string, options: { owner: BoxOwner; diskBytes?: number | undefined }): Promise<BoxDirs> {
    const { owner, diskBytes } = options;
    const limit = diskBytes === undefined ? undefined : await this.diskLimit();
    if (limit?.canEnforce === false) {
      throw new AgentBoxError("policy.unenforceable", `The disk limit cannot be enforced: ${limit.by}.`, {
        hint: "Leave resources.disk out, or run the daemon where it can be enforced.",
      });
    }
    await this.remove(name);
    try {
      return await this.#make(name, owner, diskBytes);
    } catch (error) {
      await this.remove(name).catch(() => undefined);
      throw error;
    }
  }

  async seal(name: string): Promise<void> {
    // The box only looks how old it is, for which it need not be able to read it.
    await writeFileAtomic(join(this.dirs(name).link, basename(boxPaths.sealed)), "", {
      mode: 0o400,
      isDurable: false,
    });
  }

  async ensure(name: string): Promise<void> {
    const { image, data } = this.#disk(name);
    if ((await pathKind(image)) === "file") await remountDiskImage(image, data);
    const paths = Object.values(this.dirs(name)) as string[];
    await Promise.all(
      paths.map((path) =>
        access(path).catch((error: unknown) => {
          throw new AgentBoxError("file.not_found", `The box "${name}" has lost its directory ${path}.`, {
            hint: `Its work cannot be brought back. Remove the box with: agentbox rm ${name}`,
            cause: error,
          });
        }),
      ),
    );
  }

  async remove(name: string): Promise<void> {
    const root = this.#root(name);
    if ((await pathKind(root)) === undefined) return;
    if (this.#isRoot) await unmountBelow(root);
    await removeBoxTree(root);
  }

  async keepReview(name: string, id: string): Promise<boolean> {
    const kept = this.keptReviewDir(id);
    if ((await pathKind(kept)) !== undefined) return true;
    const review = this.reviewDir(name);
    if ((await pathKind(review)) === undefined) return false;
    await ensureDirectory(this.#removedDir, { mode: 0o700 });
    await ensureDirectory(dirname(kept), { mode: 0o700 });
    await rename(review, kept);
    return true;
  }

  /** SECURITY: "../.." is not an id. */
  keptReviewDir(id: string): string {
    if (/^[A-Za-z0-9][\w-]{0,63}$/.test(id)) return join(this.#removedDir, id, "review.git");
    throw new AgentBoxError("box.not_found", "There is no removed box with this id.");
  }

  async giveReview(id: string, name: string): Promise<void> {
    await rename(this.keptReviewDir(id), this.reviewDir(name));
    await this.forgetReview(id);
  }

  forgetReview(id: string): Promise<void> {
    return removeTree(dirname(this.keptReviewDir(id)));
  }

  async listKept(): Promise<readonly string[]> {
    return (await pathKind(this.#removedDir)) === undefined ? [] : (await readdir(this.#removedDir)).sort();
  }

  async list(): Promise<readonly string[]> {
    return (await readdir(this.boxesDir)).filter((name) => BoxName.safeParse(name).success).sort();
  }

  branch(name: string, { mounted }: { mounted?: string | undefined } = {}): Promise<string | undefined> {
    return readBranch(mounted ?? this.dirs(name).workspace);
  }

  async usage(name: string): Promise<number> {
    const { data } = this.#disk(name);
    if (this.#isRoot && (await mountsBelow(data)).includes(data)) {
      const { blocks, bfree, bsize } = await statfs(data);
      return (blocks - bfree) * bsize;
    }
    const { home, workspace } = this.dirs(name);
    return await diskUsage([home, workspace]);
  }

  async measure(name: string, { timeoutMs }: { timeoutMs: number }): Promise<BoxDiskUse> {
    const { home, workspace } = this.dirs(name);
    const review = this.reviewDir(name);
    const logs = join(this.#root(name), "logs");
    const caches = cachesInHome.map((directory) => join(home, directory));
    // du counts a file once: first the caches, then the rest of the home.
    const bytes = await measureEach([...caches, home, workspace, logs, review], timeoutMs);
    return {
      home: sumOf([...caches, home].map((path) => bytes.get(path))),
      caches: sumOf(caches.map((path) => bytes.get(path))),
      workspace: bytes.get(workspace),
      logs: bytes.get(logs),
      review: bytes.get(review),
    };
  }

  async measureShared({ timeoutMs }: { timeoutMs: number }): Promise<Record<string, number | undefined>> {
    const bytes = await measureEach(Object.values(this.#shared).flat(), timeoutMs);
    return Object.fromEntries(
      Object.entries(this.#shared).map(([name, paths]) => [
        name,
        sumOf(paths.map((path) => bytes.get(path))),
      ]),
    );
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.boxesDir);
    return bavail * bsize;
  }

  async #make(name: string, owner: BoxOwner, diskBytes: number | undefined): Promise<BoxDirs> {
    const dirs = this.dirs(name);
    const { image, data } = this.#disk(name);
    const passMode = this.#isRoot ? 0o711 : 0o700;
    await ensureDirectory(this.#root(name), { mode: passMode });
    await Promise.all([
      ensureDirectory(dirs.runtime, { mode: 0o700 }),
      ensureDirectory(dirs.link, { mode: this.#isRoot ? 0o711 : 0o700 }),
      ensureDirectory(data, { mode: passMode }),
    ]);
    if (diskBytes !== undefined) {
      await createDiskImage(image, diskBytes);
      await mountDiskImage(image, data);
      await ensureDirectory(data, { mode: passMode });
      await rmdir(join(data, "lost+found"));
    }
    const boxOwned = { mode: 0o700, ...(this.#isRoot ? owner : {}) };
    await Promise.all([ensureDirectory(dirs.home, boxOwned), ensureDirectory(dirs.workspace, boxOwned)]);
    return dirs;
  }

  #disk(name: string): { readonly image: string; readonly data: string } {
    return { image: join(this.#root(name), "disk.img"), data: join(this.#root(name), "data") };
  }

  /** SECURITY: the one place where a name becomes a path; "../.." is not a name. */
  #root(name: string): string {
    if (BoxName.safeParse(name).success) return join(this.boxesDir, name);
    throw new AgentBoxError("box.name_invalid", `${JSON.stringify(name.slice(0, 80))} is not a box name.`, {
      hint: "Names are lower-case words joined by hyphens, such as team-app-backend.",
    });
  }
}
