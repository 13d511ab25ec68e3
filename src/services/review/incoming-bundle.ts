/** The file a bundle is collected in while it comes out of a box: in our own directory, and never beyond the limit. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { IncomingBundle } from "../../ports/review.ts";

export const tooLarge = (maxBytes: number): AgentBoxError =>
  new AgentBoxError("review.too_large", `The work is larger than ${formatBytes(maxBytes)}.`, {
    hint: "Let the box ignore what it has only downloaded or built (.gitignore).",
  });

export class BundleFile implements IncomingBundle {
  readonly file: string;
  readonly #handle: FileHandle;
  readonly #maxBytes: number;
  #written = 0;
  #isOpen = true;

  private constructor(file: string, handle: FileHandle, maxBytes: number) {
    this.file = file;
    this.#handle = handle;
    this.#maxBytes = maxBytes;
  }

  static async create(dir: string, maxBytes: number): Promise<BundleFile> {
    const file = join(dir, `incoming-${randomBytes(6).toString("hex")}.bundle`);
    return new BundleFile(file, await open(file, "wx", 0o600), maxBytes);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#written += chunk.length;
    if (this.#written > this.#maxBytes) {
      throw tooLarge(this.#maxBytes);
    }
    await this.#handle.writeFile(chunk);
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#handle.close();
  }

  async discard(): Promise<void> {
    await this.close();
    await rm(this.file, { force: true });
  }
}
