/**
 * Which objects a pack holds, from the index our own git has written for it (version 2): a sorted table that is
 * searched where it lies, so that millions of objects cost their ids and no more.
 */
import { readFile } from "node:fs/promises";

const headerBytes = 8;
const fanoutBytes = 256 * 4;

export class PackIndex {
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #idBytes: number;
  /** Objects from here on were not in what was sent: git has added them, to make the pack complete. */
  readonly #sentBytes: number;

  private constructor(bytes: Buffer, idBytes: number, sentBytes: number) {
    this.#bytes = bytes;
    this.#idBytes = idBytes;
    this.#sentBytes = sentBytes;
    this.count = bytes.readUInt32BE(headerBytes + 255 * 4);
  }

  static async read(file: string, idBytes: number, sentBytes: number): Promise<PackIndex> {
    return new PackIndex(await readFile(file), idBytes, sentBytes);
  }

  /** Whether the object itself was sent. */
  hasSent(id: string): boolean {
    const at = this.#find(Buffer.from(id, "hex"));
    return at !== undefined && this.#offset(at) < this.#sentBytes;
  }

  /** The ids of all objects, a line each, in pieces. */
  *lines(): Generator<string> {
    const perPiece = 10_000;
    for (let first = 0; first < this.count; first += perPiece) {
      let piece = "";
      for (let at = first; at < Math.min(first + perPiece, this.count); at++) {
        piece += `${this.#id(at).toString("hex")}\n`;
      }
      yield piece;
    }
  }

  #id(at: number): Buffer {
    const start = headerBytes + fanoutBytes + at * this.#idBytes;
    return this.#bytes.subarray(start, start + this.#idBytes);
  }

  #find(id: Buffer): number | undefined {
    const first = id[0]!;
    let low = first === 0 ? 0 : this.#bytes.readUInt32BE(headerBytes + (first - 1) * 4);
    let high = this.#bytes.readUInt32BE(headerBytes + first * 4);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = Buffer.compare(this.#id(middle), id);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  #offset(at: number): number {
    const checksums = headerBytes + fanoutBytes + this.count * this.#idBytes;
    const offsets = checksums + this.count * 4;
    const offset = this.#bytes.readUInt32BE(offsets + at * 4);
    if (offset < 2 ** 31) return offset;
    const large = offsets + this.count * 4 + (offset - 2 ** 31) * 8;
    return Number(this.#bytes.readBigUInt64BE(large));
  }
}
