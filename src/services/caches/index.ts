/**
 * Package caches of projects, below `<home>/caches`: `<digest of the project's directory>.tar` and `.json`, the
 * daemon's alone. An archive, because nothing in it can be run, linked to or changed in place. It is read and written
 * with the rights of the box that it comes from or goes to, never with the daemon's.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, readdir, rename, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { printable } from "../../base/printable.ts";
import { ProjectCache, cachePaths } from "../../contract/cache.ts";
import { ensureDirectory, writeFileAtomic, pathKind } from "../../host/files.ts";
import { run } from "../../host/run.ts";
import type { ProjectCaches } from "../../ports/caches.ts";

/** Which package caches a box's home has. Only real directories count: a planted link leads to none. */
async function cachesIn(home: string): Promise<readonly string[]> {
  const isHere = await Promise.all(cachePaths.map((path) => isDirectoryBelow(home, path.split("/"))));
  return cachePaths.filter((_, at) => isHere[at]);
}

// SECURITY: step by step. A box may make `.cache` a link to a directory of the person who runs the daemon, and what is
// archived by a path through it would be theirs.
async function isDirectoryBelow(home: string, names: readonly string[]): Promise<boolean> {
  for (let depth = 1; depth <= names.length; depth++) {
    if ((await pathKind(join(home, ...names.slice(0, depth)))) !== "dir") return false;
  }
  return true;
}

export interface CachesOptions {
  readonly dir: string;
  /** Whether boxes have users of their own. */
  readonly isRoot: boolean;
  readonly clock: Clock;
  /** The most that one project keeps. */
  readonly maxBytes?: number;
}

const defaultMaxBytes = 16 * 2 ** 30;
/** The free disk space that remains, however much a box puts into its caches. */
const spareBytes = 512 * 2 ** 20;
const timeoutMs = 10 * 60_000;

export function openCaches(options: CachesOptions): ProjectCaches {
  return new CacheStore(options);
}

class CacheStore implements ProjectCaches {
  readonly #options: CachesOptions;
  /** One project at a time, so that no copy is made of a cache that is being replaced. */
  readonly #turns = new KeyedMutex();

  constructor(options: CachesOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly ProjectCache[]> {
    const names = await readdir(this.#options.dir).catch(() => []);
    const records = await Promise.all(
      names.filter((name) => name.endsWith(".json")).map((name) => readRecord(join(this.#options.dir, name))),
    );
    return records.filter((record) => record !== undefined).sort((a, b) => b.savedAtMs - a.savedAtMs);
  }

  save({ projectDir, box, home, owner }: Parameters<ProjectCaches["save"]>[0]): Promise<ProjectCache> {
    const { archive, record } = this.#files(projectDir);
    return this.#turns.run(archive, async () => {
      const paths = await cachesIn(home);
      if (paths.length === 0) {
        throw new AgentBoxError("input.invalid", `The box "${box}" has no package caches.`, {
          hint: "There is something to keep once npm, pip, cargo or go have fetched something in it.",
        });
      }
      await ensureDirectory(this.#options.dir, { mode: 0o700 });
      const unfinished = `${archive}.tmp`;
      try {
        const bytes = await this.#pack(unfinished, { paths, home, owner });
        const cache: ProjectCache = {
          projectDir,
          box,
          savedAtMs: this.#options.clock.nowMs(),
          bytes,
          paths: [...paths],
        };
        await rename(unfinished, archive);
        await writeFileAtomic(record, JSON.stringify(cache));
        return cache;
      } finally {
        await rm(unfinished, { force: true });
      }
    });
  }

  give({ projectDir, home, owner }: Parameters<ProjectCaches["give"]>[0]): Promise<ProjectCache | undefined> {
    const { archive, record } = this.#files(projectDir);
    return this.#turns.run(archive, async () => {
      const cache = await readRecord(record);
      const file = cache && (await open(archive, "r").catch(() => undefined));
      if (cache === undefined || file === undefined) return undefined;
      try {
        // SECURITY: as the box's user, so that an archive that names other paths reaches none the box could not.
        const { code, stderr } = await run(["tar", "--extract", "--no-same-owner", "--no-same-permissions"], {
          ...this.#as(owner, home),
          stdinFd: file.fd,
        });
        if (code === 0) return cache;
        throw new AgentBoxError(
          "workspace.failed",
          `The project's package caches (${formatBytes(cache.bytes)}) could not be copied into the box: ${lastLine(stderr)}`,
          { hint: `Give the box more disk, or forget them: agentbox cache clear`, facts: { projectDir } },
        );
      } finally {
        await file.close();
      }
    });
  }

  clear(projectDir: string): Promise<boolean> {
    const { archive, record } = this.#files(projectDir);
    return this.#turns.run(archive, async () => {
      const isThere = (await readRecord(record)) !== undefined;
      for (const path of [record, archive, `${archive}.tmp`]) await rm(path, { force: true });
      return isThere;
    });
  }

  /** Returns the archive's size. */
  async #pack(target: string, from: PackFrom): Promise<number> {
    const file = await open(target, "wx", 0o600);
    try {
      return await this.#packInto(file, from);
    } finally {
      await file.close();
    }
  }

  async #packInto(file: FileHandle, { paths, home, owner }: PackFrom): Promise<number> {
    const { dir, maxBytes = defaultMaxBytes } = this.#options;
    const { bavail, bsize } = await statfs(dir);
    const most = Math.max(1, Math.min(maxBytes, bavail * bsize - spareBytes));
    // SECURITY: a box decides what is in its caches. The kernel ends what would fill the disk, and holes stay holes.
    const limited = ["prlimit", `--fsize=${most}`, "--"] as const;
    const tar = ["tar", "--create", "--sparse", "--one-file-system", "--", ...paths];
    const { code, signal, stderr } = await run([...limited, ...tar], {
      ...this.#as(owner, home),
      stdoutFd: file.fd,
    });
    if (code === 0) return (await file.stat()).size;
    if (signal === "SIGXFSZ" || /File too large/.test(stderr)) {
      throw new AgentBoxError("input.too_large", `The package caches are larger than ${formatBytes(most)}.`, {
        hint: "Remove what is not needed from them in the box, or free some disk.",
      });
    }
    throw new AgentBoxError("file.failed", `The package caches could not be read: ${lastLine(stderr)}`);
  }

  #as({ uid, gid }: PackFrom["owner"], home: string) {
    return { cwd: home, timeoutMs, ...(this.#options.isRoot ? { uid, gid } : {}) };
  }

  /** SECURITY: a digest, because a directory's name must not become a part of a path. */
  #files(projectDir: string): { readonly archive: string; readonly record: string } {
    const name = createHash("sha256").update(projectDir).digest("hex");
    return {
      archive: join(this.#options.dir, `${name}.tar`),
      record: join(this.#options.dir, `${name}.json`),
    };
  }
}

interface PackFrom {
  readonly paths: readonly string[];
  readonly home: string;
  readonly owner: { readonly uid: number; readonly gid: number };
}

const lastLine = (text: string): string => printable(text.trim().split("\n").at(-1) ?? "");

async function readRecord(file: string): Promise<ProjectCache | undefined> {
  try {
    return ProjectCache.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}
