/** Bytes that wait, or something to be done exactly between two of them. */
type Item = { readonly bytes: Uint8Array } | { readonly act: () => void };

export interface OutputSink {
  write(bytes: Uint8Array, written: () => void): void;
  /** The sender is asked to stop for a while, and to go on. */
  pause(): void;
  resume(): void;
}

/** Large enough that drawing in between costs little, small enough that a key is not kept waiting. */
const maxWriteBytes = 256 * 1024;
/** A write of this size is part of a flood: it is too much to read, and each drawing takes as long as much text. */
const floodBytes = 16 * 1024;
const floodPauseMs = 50;
const highWaterBytes = 2 << 20;
const lowWaterBytes = 512 * 1024;

/**
 * Hands a terminal one write at a time. Output that arrives meanwhile is joined, so a flood costs few large writes and
 * few drawings, and an echo costs one small one, at once.
 */
export class OutputQueue {
  readonly #sink: OutputSink;
  #items: Item[] = [];
  #bytes = 0;
  #isWriting = false;
  #isPaused = false;
  /** In a flood, the next write is not before this. */
  #notBeforeMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(sink: OutputSink) {
    this.#sink = sink;
  }

  push(bytes: Uint8Array): void {
    this.#items.push({ bytes });
    this.#bytes += bytes.length;
    if (this.#bytes > highWaterBytes && !this.#isPaused) {
      this.#isPaused = true;
      this.#sink.pause();
    }
    if (this.#bytes >= maxWriteBytes) this.#wake();
    else this.#pump();
  }

  /** After every byte so far and before any that comes later. */
  act(act: () => void): void {
    this.#items.push({ act });
    this.#pump();
  }

  /** Forgets what was not written yet: it belongs to a connection that is gone. */
  clear(): void {
    this.#items = [];
    this.#bytes = 0;
    this.#isPaused = false;
  }

  #pump(): void {
    while (!this.#isWriting && this.#timer === undefined) {
      const item = this.#items[0];
      if (!item) return;
      if ("act" in item) {
        this.#items.shift();
        item.act();
      } else if (this.#bytes < maxWriteBytes && performance.now() < this.#notBeforeMs) {
        this.#timer = setTimeout(() => this.#wake(), this.#notBeforeMs - performance.now());
      } else this.#write(this.#take());
    }
  }

  #wake(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pump();
  }

  #write(bytes: Uint8Array): void {
    this.#isWriting = true;
    this.#notBeforeMs = bytes.length < floodBytes ? 0 : performance.now() + floodPauseMs;
    this.#sink.write(bytes, () => {
      this.#isWriting = false;
      if (this.#isPaused && this.#bytes < lowWaterBytes) {
        this.#isPaused = false;
        this.#sink.resume();
      }
      this.#pump();
    });
  }

  #take(): Uint8Array {
    const parts: Uint8Array[] = [];
    let size = 0;
    for (const item of this.#items) {
      if ("act" in item || (size > 0 && size + item.bytes.length > maxWriteBytes)) break;
      parts.push(item.bytes);
      size += item.bytes.length;
    }
    this.#items.splice(0, parts.length);
    this.#bytes -= size;
    if (parts.length === 1) return parts[0]!;
    const joined = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }
}
