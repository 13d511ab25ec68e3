/** Files of a review by their ids: the size is looked at first, and of a large one only the beginning is read. */
import { AgentBoxError } from "../../base/errors.ts";
import { splitBytes } from "./byte-lines.ts";
import { ObjectBatch } from "./object-batch.ts";
import type { ReviewGit } from "./review-git.ts";

/** Small enough to come whole through the batch. */
const maxWholeBytes = 1 << 20;

export class BlobReader {
  readonly #git: ReviewGit;
  readonly #batchedSizes: ObjectBatch;
  readonly #contents: ObjectBatch;
  /** The last listing: the same files are read next. */
  #listed: ReadonlyMap<string, number> = new Map();

  constructor(git: ReviewGit) {
    this.#git = git;
    this.#batchedSizes = new ObjectBatch(git, { isContents: false });
    this.#contents = new ObjectBatch(git, { isContents: true });
  }

  /** Many at once, for a list of changes. */
  async sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    if (ids.length === 0) return sizes;
    const args = ["cat-file", "--batch-check", "--buffer"];
    const stdin = `${ids.join("\n")}\n`;
    for await (const line of splitBytes(this.#git.stream(args, { stdin }), "\n")) {
      const [id, type, size] = line.toString("latin1").split(" ");
      if (type === "blob") sizes.set(id!, Number(size));
    }
    this.#listed = sizes;
    return sizes;
  }

  /** Undefined when there is no file with this id. */
  async sizeOf(id: string): Promise<number | undefined> {
    const listed = this.#listed.get(id);
    if (listed !== undefined) return listed;
    const found = await this.#batchedSizes.ask(id);
    return found?.type === "blob" ? found.size : undefined;
  }

  async read(id: string, maxBytes: number): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
    const size = await this.sizeOf(id);
    if (size === undefined) throw unreadable(id);
    const isWhole = size <= maxBytes;
    if (size > maxWholeBytes)
      return { bytes: await this.#readBeginning(id, Math.min(size, maxBytes)), isWhole };
    const found = await this.#contents.ask(id);
    if (!found) throw unreadable(id);
    return { bytes: found.bytes.subarray(0, maxBytes), isWhole };
  }

  async #readBeginning(id: string, length: number): Promise<Uint8Array> {
    const bytes = Buffer.alloc(length);
    let filled = 0;
    for await (const chunk of this.#git.stream(["cat-file", "blob", id])) {
      filled += chunk.copy(bytes, filled);
      if (filled === length) break;
    }
    return bytes;
  }
}

const unreadable = (id: string): AgentBoxError =>
  new AgentBoxError("review.failed", `There is no file with the id ${id} in the review.`);
