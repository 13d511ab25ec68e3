/** Bytes of one channel that followed each other; `start` counts from the beginning of the program's output. */
interface Block {
  readonly start: number;
  readonly channel: 1 | 2;
  readonly bytes: Uint8Array;
  used: number;
}

export interface Piece {
  readonly start: number;
  readonly channel: 1 | 2;
  readonly bytes: Uint8Array;
}

/** Small writes share a block, so that a program that prints byte by byte costs no more than one that does not. */
const blockBytes = 8 * 1024;
const defaultCapacity = 1 << 20;

/** The last MiB of a program's output, addressed by absolute offset. */
export class OutputRing {
  readonly #capacity: number;
  readonly #listeners = new Set<() => void>();
  #blocks: Block[] = [];
  #reserved = 0;
  #total = 0;
  #isEnded = false;

  constructor(capacity = defaultCapacity) {
    this.#capacity = capacity;
  }

  /** Bytes of output so far. */
  get total(): number {
    return this.#total;
  }

  /** Offset of the oldest byte that is still here. */
  get oldest(): number {
    return this.#blocks[0]?.start ?? this.#total;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  append(chunk: Uint8Array, channel: 1 | 2): void {
    const last = this.#blocks.at(-1);
    if (last?.channel === channel && last.bytes.length - last.used >= chunk.length) {
      last.bytes.set(chunk, last.used);
      last.used += chunk.length;
    } else {
      this.#add(chunk, channel);
    }
    this.#total += chunk.length;
    this.#notify();
  }

  end(): void {
    this.#isEnded = true;
    this.#notify();
  }

  /** The bytes after `offset`, as far as they lie in one block; undefined when there are none yet. */
  read(offset: number): Piece | undefined {
    if (offset >= this.#total || offset < this.oldest) return undefined;
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#blocks[middle]!.start <= offset) low = middle;
      else high = middle - 1;
    }
    const block = this.#blocks[low]!;
    return {
      start: offset,
      channel: block.channel,
      bytes: block.bytes.subarray(offset - block.start, block.used),
    };
  }

  /** Calls back after every append and at the end. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #add(chunk: Uint8Array, channel: 1 | 2): void {
    let bytes = chunk;
    if (chunk.length < blockBytes) {
      bytes = new Uint8Array(blockBytes);
      bytes.set(chunk);
    }
    this.#blocks.push({ start: this.#total, channel, bytes, used: chunk.length });
    this.#reserved += bytes.length;
    // The memory taken is counted, so that switching between the channels cannot multiply it.
    while (this.#reserved > this.#capacity && this.#blocks.length > 1) {
      this.#reserved -= this.#blocks.shift()!.bytes.length;
    }
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
