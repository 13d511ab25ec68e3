/**
 * Layers on disk: `<digest>.tar`, and for each key (the inputs of a layer) a note with its digest. A layer appears
 * under its name only when it is whole, so every file with such a name can be used.
 */
import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { ensureDirectory, removeTree, writeFileAtomic } from "../../host/files.ts";

export interface Layer {
  /** `sha256:…` of the tar. */
  readonly digest: string;
  readonly bytes: number;
}

const Note = z.object({ digest: z.string().regex(/^sha256:[0-9a-f]{64}$/), bytes: z.int() });

export class LayerStore {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** A directory of its own for what is not finished. */
  async scratch(): Promise<string> {
    const dir = join(this.#dir, `.${randomBytes(6).toString("hex")}`);
    await ensureDirectory(dir, { mode: 0o700 });
    return dir;
  }

  /** Removes unfinished layers. One daemon serves a home, so before its first build no layer is in the making. */
  async tidy(): Promise<void> {
    const names = (await readdir(this.#dir).catch(absent)) ?? [];
    await Promise.all(names.filter(isUnfinished).map((name) => removeTree(join(this.#dir, name))));
  }

  /** The layer that was made from the same inputs before. */
  async find(key: string): Promise<Layer | undefined> {
    const text = await readFile(this.#noteOf(key), "utf8").catch(absent);
    if (text === undefined) return undefined;
    const layer = parseNote(text);
    return layer && (await this.has(layer)) ? layer : undefined;
  }

  async has({ digest, bytes }: Layer): Promise<boolean> {
    return (await stat(this.#fileOf(digest)).catch(absent))?.size === bytes;
  }

  /** Writes the layer, names it by its content and remembers it under the key. */
  async keep(key: string, content: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Layer> {
    await ensureDirectory(this.#dir, { mode: 0o700 });
    const temporary = join(this.#dir, `.${randomBytes(6).toString("hex")}.tmp`);
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      await using file = await open(temporary, "wx", 0o600);
      for await (const chunk of content) {
        if (signal?.aborted) throw interrupted();
        hash.update(chunk);
        bytes += chunk.length;
        await file.writeFile(chunk);
      }
      await file.sync();
      return await this.#place(key, temporary, { digest: `sha256:${hash.digest("hex")}`, bytes });
    } catch (error) {
      throw writeFailure(error);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** The whole layer, opened when it is first read. SECURITY: hashed as it goes, so what was changed is never loaded. */
  async *read({ digest }: Layer): AsyncGenerator<Uint8Array> {
    yield* verified(createReadStream(this.#fileOf(digest)), digest);
  }

  /** Removes the layers that none of these names, and leftovers of a crash; answers with the bytes. */
  async sweep(wanted: ReadonlySet<string>): Promise<number> {
    let freed = 0;
    for (const name of (await readdir(this.#dir).catch(absent)) ?? []) {
      const path = join(this.#dir, name);
      const digest = name.endsWith(".tar") ? `sha256:${name.slice(0, -4)}` : await noted(path, name);
      if (digest !== undefined && wanted.has(digest)) continue;
      freed += (await stat(path).catch(absent))?.size ?? 0;
      await removeTree(path);
    }
    return freed;
  }

  async #place(key: string, temporary: string, layer: Layer): Promise<Layer> {
    await rename(temporary, this.#fileOf(layer.digest));
    await writeFileAtomic(this.#noteOf(key), JSON.stringify(layer));
    return layer;
  }

  #fileOf = (digest: string): string => join(this.#dir, `${digest.slice("sha256:".length)}.tar`);
  #noteOf = (key: string): string =>
    join(this.#dir, `${createHash("sha256").update(key).digest("hex")}.json`);
}

async function* verified(content: AsyncIterable<Uint8Array>, digest: string): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  if (`sha256:${hash.digest("hex")}` === digest) return;
  throw new AgentBoxError("image.build_failed", "A layer on this host's disk is not what it was.", {
    hint: "Make it again: agentbox build --no-cache",
    facts: { digest },
  });
}

const noted = async (path: string, name: string): Promise<string | undefined> =>
  name.endsWith(".json") ? parseNote(await readFile(path, "utf8"))?.digest : undefined;

const isUnfinished = (name: string): boolean => name.startsWith(".");

function parseNote(text: string): Layer | undefined {
  try {
    return Note.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function absent(error: unknown): undefined {
  if (systemCode(error) !== "ENOENT") throw error;
}

export const interrupted = (): AgentBoxError =>
  new AgentBoxError("image.build_failed", "The build was interrupted; nothing of it is left.");

function writeFailure(error: unknown): unknown {
  if (systemCode(error) !== "ENOSPC") return error;
  return new AgentBoxError("disk.low", `An image could not be written: ${messageOf(error)}.`, {
    hint: "Free some disk space, or remove images that nothing uses: agentbox images prune",
    cause: error,
  });
}
