import type { Emulator } from "./emulator.ts";
import { plainTailStart, tailOfLines } from "./plain-text.ts";

/** Bytes that wait, or something to be done exactly between two of them. */
type Item = { readonly bytes: Uint8Array } | { readonly act: () => void };

const batchBytes = 64 * 1024;
/** Beyond this the program is slowed down. */
const maxBacklogBytes = 4 << 20;
/** Up to here parsing waits for a quiet moment, because the viewers' bytes go first. */
const lazyBacklogBytes = 3 << 20;
const lazyItems = 2048;
const quietMs = 10;
/** A program that is never quiet does not put the emulator off for longer. */
const maxWaits = 10;

/**
 * The content of a terminal, for new viewers. Viewers get the program's bytes directly; the emulator follows behind,
 * and skips plain lines that would have scrolled out of its memory before a viewer could see them.
 */
export class Screen {
  readonly #emulator: Emulator;
  readonly #onRoom: () => void;
  #queue: Item[] = [];
  #backlog = 0;
  /** How many items, and how many bytes in them, at the queue's end are text without control sequences. */
  #plainItems = 0;
  #plainBytes = 0;
  #isParsing = false;
  #isUrgent = 0;
  #timer: NodeJS.Timeout | undefined;
  #isRecent = false;
  #waits = 0;
  #lastByte = 0;

  constructor(emulator: Emulator, onSpace: () => void) {
    this.#emulator = emulator;
    this.#onRoom = onSpace;
  }

  get isFull(): boolean {
    return this.#backlog > maxBacklogBytes;
  }

  write(bytes: Uint8Array): void {
    this.#push(bytes);
    this.#isRecent = true;
    if (!this.#mayWait) this.#pump();
    this.#wait();
  }

  resize(cols: number, rows: number): void {
    this.#act(() => this.#emulator.resize(cols, rows));
  }

  /** After every byte written so far. */
  readsPastes(): Promise<boolean> {
    return new Promise((resolve) => this.#act(() => resolve(this.#emulator.readsPastes)));
  }

  /** The screen as it is after every byte written so far, and before any that is written later. */
  snapshot(): Promise<string> {
    return new Promise((resolve) => this.#act(() => resolve(this.#emulator.screen())));
  }

  /** The last screen; the emulator is gone afterwards. */
  async close(): Promise<string> {
    const last = await this.snapshot();
    clearTimeout(this.#timer);
    this.#emulator.dispose();
    return last;
  }

  get #mayWait(): boolean {
    return this.#isUrgent === 0 && this.#backlog < lazyBacklogBytes && this.#queue.length < lazyItems;
  }

  #push(bytes: Uint8Array): void {
    this.#backlog += bytes.length;
    const at = plainTailStart(bytes, this.#lastByte);
    this.#lastByte = bytes.at(-1) ?? this.#lastByte;
    if (at > 0) {
      this.#queue.push({ bytes: bytes.subarray(0, at) });
      this.#plainItems = this.#plainBytes = 0;
    }
    if (at === bytes.length) return;
    this.#queue.push({ bytes: bytes.subarray(at) });
    this.#plainItems += 1;
    this.#plainBytes += bytes.length - at;
  }

  #act(act: () => void): void {
    this.#skip();
    this.#isUrgent += 1;
    this.#plainItems = this.#plainBytes = 0;
    this.#queue.push({
      act: () => {
        this.#isUrgent -= 1;
        act();
      },
    });
    this.#pump();
  }

  #whenQuiet(): void {
    this.#timer = undefined;
    if (this.#isRecent && this.#mayWait && this.#waits < maxWaits) {
      this.#isRecent = false;
      this.#waits += 1;
      return this.#wait();
    }
    this.#isRecent = false;
    this.#waits = 0;
    this.#pump();
  }

  #pump(): void {
    if (this.#isParsing) return;
    this.#skip();
    for (;;) {
      const item = this.#queue[0];
      if (!item) return;
      if (!("act" in item)) break;
      this.#queue.shift();
      item.act();
    }
    if (this.#isRecent && this.#mayWait) this.#wait();
    else this.#parse(this.#take());
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => this.#whenQuiet(), quietMs);
  }

  #parse(batch: Uint8Array): void {
    this.#isParsing = true;
    this.#emulator.write(batch, () => {
      this.#isParsing = false;
      this.#backlog -= batch.length;
      this.#pump();
      if (!this.isFull) this.#onRoom();
    });
  }

  /** The next bytes, up to a batch, and never beyond something that must happen in between. */
  #take(): Uint8Array {
    const parts: Uint8Array[] = [];
    let size = 0;
    while (size < batchBytes) {
      const item = this.#queue[0];
      if (!item || "act" in item) break;
      const part = item.bytes.subarray(0, batchBytes - size);
      const isWhole = part.length === item.bytes.length;
      if (this.#plainItems === this.#queue.length) {
        this.#plainBytes -= part.length;
        if (isWhole) this.#plainItems -= 1;
      }
      if (isWhole) this.#queue.shift();
      else this.#queue[0] = { bytes: item.bytes.subarray(part.length) };
      parts.push(part);
      size += part.length;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, size);
  }

  /**
   * The queue is nothing but plain text, and what was before it is parsed. When it has more lines than the
   * emulator keeps, all but the last ones would leave no trace, unless only a part of the screen scrolls.
   */
  #skip(): void {
    const isAllPlain = !this.#isParsing && this.#plainItems === this.#queue.length;
    if (!isAllPlain || this.#plainBytes < batchBytes || !this.#emulator.scrollsWhole) return;
    const parts = this.#queue.map((item) => ("bytes" in item ? item.bytes : new Uint8Array()));
    // Twice the rows: the first lines may run over what is left of an older screen below the cursor.
    const tail = tailOfLines(parts, this.#emulator.scrollback + 2 * this.#emulator.rows);
    if (!tail) return;
    this.#queue = tail.map((bytes) => ({ bytes }));
    const kept = tail.reduce((sum, bytes) => sum + bytes.length, 0);
    this.#backlog -= this.#plainBytes - kept;
    this.#plainItems = tail.length;
    this.#plainBytes = kept;
  }
}
