/**
 * Quarantine for unchecked objects. The repository's own objects are visible from it; its objects become visible in the
 * repository once they are admitted, and are removed otherwise.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../../host/files.ts";
import { tooLarge } from "./incoming-bundle.ts";
import { alternatesLine } from "./make-repository.ts";

export class Quarantine implements AsyncDisposable {
  readonly objects: string;
  readonly #target: string;

  private constructor(objects: string, target: string) {
    this.objects = objects;
    this.#target = target;
  }

  static async open(gitDir: string): Promise<Quarantine> {
    const target = join(gitDir, "objects");
    const objects = join(gitDir, `incoming-${randomBytes(6).toString("hex")}`);
    await mkdir(join(objects, "info"), { recursive: true });
    await mkdir(join(objects, "pack"));
    await writeFile(join(objects, "info/alternates"), alternatesLine(target));
    return new Quarantine(objects, target);
  }

  /** Lets the pack in. Returns how many bytes that takes. */
  async admit(maxBytes = Number.POSITIVE_INFINITY): Promise<number> {
    // The index comes last: git knows a pack by it, and must find the rest then.
    const names = (await readdir(join(this.objects, "pack"))).toSorted(
      (a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")),
    );
    const sizes = await Promise.all(names.map(async (name) => (await stat(this.#pack(name))).size));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    for (const name of names) await rename(this.#pack(name), join(this.#target, "pack", name));
    return bytes;
  }

  #pack(name: string): string {
    return join(this.objects, "pack", name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return removeTree(this.objects);
  }
}
