/** The base of an image: its layers, and the list of their content. Kept beside the layers, so that it is made once. */
import { createHash } from "node:crypto";
import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { systemCode } from "../../base/errors.ts";
import { ensureDirectory, writeFileAtomic } from "../../host/files.ts";

const digestText = z.string().regex(/^sha256:[0-9a-f]{64}$/);

export const Base = z.object({
  /** For people: `debian bookworm`, or the reference it was taken from. */
  name: z.string(),
  layers: z.array(z.object({ digest: digestText, bytes: z.int() })).min(1),
  /** Variables that programs of a foreign base rely on. */
  env: z.array(z.string()),
  packages: z.array(z.object({ name: z.string(), version: z.string(), architecture: z.string() })),
});
export type Base = z.infer<typeof Base>;

export class Bases {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async find(key: string): Promise<Base | undefined> {
    return readBase(this.#fileOf(key));
  }

  async keep(key: string, base: Base): Promise<void> {
    await ensureDirectory(this.#dir, { mode: 0o700 });
    await writeFileAtomic(this.#fileOf(key), JSON.stringify(base));
  }

  /** Forgets every base with a layer that nothing wants any more. */
  async sweep(wanted: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#dir).catch(none)) {
      const base = await readBase(join(this.#dir, name));
      if (!base?.layers.every(({ digest }) => wanted.has(digest)))
        await rm(join(this.#dir, name), { force: true });
    }
  }

  #fileOf = (key: string): string =>
    join(this.#dir, `${createHash("sha256").update(key).digest("hex")}.json`);
}

async function readBase(file: string): Promise<Base | undefined> {
  try {
    return Base.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}

function none(error: unknown): string[] {
  if (systemCode(error) === "ENOENT") return [];
  throw error;
}
