/** The lock files on disk: this host's own, and a project's. */
import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import {
  emptyLock,
  type LockedAgent,
  lockFileName,
  readLock,
  withLocked,
  withPinnedImage,
  writeLock,
} from "../../contract/lock-file.ts";
import type { LockFile } from "../../contract/tool.ts";
import { writeFileAtomic } from "../../host/files.ts";
import type { OrderFiles } from "../../host/ownership.ts";

const maxLockBytes = 1 << 20;

export class Pins {
  readonly #file: string;
  readonly #orders: Orders;
  readonly #isRoot: boolean;
  readonly #writing = new KeyedMutex();

  constructor(file: string, isRoot: boolean, orders: Orders) {
    this.#orders = orders;
    this.#file = file;
    this.#isRoot = isRoot;
  }

  async find(agent: string): Promise<LockedAgent | undefined> {
    const { agents } = await loadLock(this.#file, this.#orders);
    return Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  }

  set(agent: string, entry: LockedAgent | undefined): Promise<void> {
    return this.#change(this.#file, (lock) => withLocked(lock, agent, entry), {});
  }

  /** Owned like the directory it lies in: root's daemon writes for the person whose project it is. */
  async setInProject(dir: string, agent: string, entry: LockedAgent): Promise<void> {
    await this.#changeInProject(dir, (lock) => withLocked(lock, agent, entry));
  }

  async findImage(dir: string | undefined, reference: string): Promise<string | undefined> {
    const { images = {} } = await loadLock(
      dir === undefined ? this.#file : join(dir, lockFileName),
      this.#orders,
    );
    return Object.hasOwn(images, reference) ? images[reference] : undefined;
  }

  setImage(dir: string | undefined, reference: string, digest: string): Promise<void> {
    const change = (lock: LockFile) => withPinnedImage(lock, reference, digest);
    return dir === undefined ? this.#change(this.#file, change, {}) : this.#changeInProject(dir, change);
  }

  async #changeInProject(dir: string, change: (lock: LockFile) => LockFile): Promise<void> {
    const { uid, gid } = await stat(dir);
    const owner = this.#isRoot ? { uid, gid } : undefined;
    await this.#change(join(dir, lockFileName), change, { mode: 0o644, owner });
  }

  #change(
    file: string,
    change: (lock: LockFile) => LockFile,
    how: Parameters<typeof writeFileAtomic>[2],
  ): Promise<void> {
    return this.#writing.run(file, async () => {
      await writeFileAtomic(file, writeLock(change(await loadLock(file, this.#orders))), how);
    });
  }
}

/** Who decides what is in a file. */
export type Orders = Pick<OrderFiles, "requireOwnFile">;

async function loadLock(path: string, orders: Orders): Promise<LockFile> {
  try {
    // SECURITY: a repository may hold a link of this name to a file outside it.
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    await orders.requireOwnFile(path, file);
    const { size } = await file.stat();
    if (size > maxLockBytes) throw new AgentBoxError("lock.invalid", `${path} is larger than 1 MiB.`);
    return readLock(await file.readFile("utf8"), path);
  } catch (error) {
    if (error instanceof AgentBoxError) throw error;
    if (systemCode(error) === "ENOENT") return emptyLock;
    throw new AgentBoxError("lock.invalid", `${path} cannot be read: ${messageOf(error)}.`, {
      hint: "It must be an ordinary file that the daemon can read.",
    });
  }
}
