/** Cuts a stream of bytes into lines. A line that is longer than the limit is dropped as a whole. */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder();
  #parts: Uint8Array[] = [];
  #length = 0;
  #isTooLong = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that are complete now, without their ends. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      const line = this.#take();
      if (line !== undefined) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.slice(start));
    return lines;
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > this.#maxBytes) {
      this.#isTooLong = true;
      this.#parts = [];
    } else if (!this.#isTooLong) this.#parts.push(part);
  }

  #take(): string | undefined {
    const isKept = !this.#isTooLong;
    const bytes = new Uint8Array(isKept ? this.#length : 0);
    let at = 0;
    for (const part of isKept ? this.#parts : []) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.#length = 0;
    this.#isTooLong = false;
    return isKept ? this.#decoder.decode(bytes) : undefined;
  }
}
