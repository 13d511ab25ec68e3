/** The output of one source on its way into its log, at a pace that the disk and the daemon can bear. */
import type { Clock } from "../../base/clock.ts";
import { type Share, SharedRate } from "../../base/rate.ts";
import type { LinkStream } from "../../ports/link.ts";

/** 2 MiB a second; more than a person reads, less than a program can print. */
const maxBytesPerMs = 2 * 1024;
/** As much as is kept in memory while the piece before is being written. */
const maxWaitingBytes = 256 * 1024;
/** SECURITY: pieces of one byte take more than their bytes. */
const maxWaitingChunks = 1_024;
const leastPauseMs = 10;
/** Pieces a second, of one box and of all of them; one for each, and one more for so many bytes. */
const logPieces = { own: { perSecond: 20, burst: 100 }, alone: 300, together: 100 };
const logPieceBytes = 64 * 1024;
export const openLogRates = (clock: Clock): SharedRate => new SharedRate(logPieces, clock);

/** How long to wait after a piece of this size before the next one of the source is written. */
export function pauseAfter(rate: Share, bytes: number): number {
  return Math.max(bytes / maxBytesPerMs, rate.spend(1 + bytes / logPieceBytes), leastPauseMs);
}

interface RecordingEvents {
  write(offset: number, chunk: Uint8Array): Promise<void>;
  /** The time that must pass after a piece of this size. */
  pause(bytes: number): Promise<void>;
  failed(error: unknown): void;
}

/**
 * A piece at a time, each of all that came meanwhile, and never faster than a log is
 * worth. SECURITY: a flood waits in the box, where it is bounded and overwrites itself, whether it is of bytes or of pieces
 * of one byte.
 */
export class Recording {
  readonly #stream: LinkStream;
  readonly #events: RecordingEvents;
  /** Where what waits begins. */
  #offset: number;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** Where it goes on after what waits, when the box has dropped something. */
  #next: number | undefined;
  #writing: Promise<void> | undefined;
  #hasEnded = false;

  constructor(stream: LinkStream, offset: number, events: RecordingEvents) {
    this.#stream = stream;
    this.#offset = offset;
    this.#events = events;
  }

  moveTo(offset: number): void {
    if (this.#waitingBytes === 0) this.#offset = offset;
    else this.#next = offset;
    if (this.#next !== undefined) this.#stream.pause();
  }

  add(chunk: Uint8Array): void {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= maxWaitingBytes || this.#waiting.length >= maxWaitingChunks)
      this.#stream.pause();
    this.#writing ??= this.#write();
  }

  /** Resolves when all of it is written; only the disk is waited for. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#waitingBytes > 0) {
      const [at, piece] = [this.#offset, Buffer.concat(this.#waiting)];
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#offset = this.#next ?? at + piece.length;
      this.#next = undefined;
      await this.#events.write(at, piece).catch((error: unknown) => this.#events.failed(error));
      if (!this.#hasEnded) await this.#events.pause(piece.length);
      this.#stream.resume();
    }
    this.#writing = undefined;
  }
}
