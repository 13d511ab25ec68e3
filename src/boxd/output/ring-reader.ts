import { type Connection, dataKind } from "../connection.ts";
import type { OutputRing } from "./output-ring.ts";

export interface RingReaderEvents {
  /** Bytes before `offset` are gone. Return true when reading may go on from there at once. */
  missed(offset: number): boolean;
  /** Something was sent. */
  progressed(): void;
  /** Everything was read and nothing more will come. */
  finished(): void;
}

/** Carries a ring's bytes to one connection at the pace of that connection. */
export class RingReader {
  readonly #ring: OutputRing;
  readonly #connection: Connection;
  readonly #events: RingReaderEvents;
  readonly #unsubscribe: () => void;
  #offset: number;
  #isHeld = false;
  #isFinished = false;

  constructor(ring: OutputRing, connection: Connection, offset: number, events: RingReaderEvents) {
    this.#ring = ring;
    this.#connection = connection;
    this.#events = events;
    this.#offset = offset;
    this.#unsubscribe = ring.subscribe(() => this.pump());
    connection.onDrain(() => this.pump());
    connection.onClose(() => this.close());
  }

  /** How far this reader is behind. */
  get lagBytes(): number {
    return this.#ring.total - this.#offset;
  }

  /** Nothing is sent until `moveTo`. */
  hold(): void {
    this.#isHeld = true;
  }

  moveTo(offset: number): void {
    this.#offset = offset;
    this.#isHeld = false;
    this.pump();
  }

  close(): void {
    this.#isFinished = true;
    this.#unsubscribe();
  }

  pump(): void {
    const before = this.#offset;
    while (!this.#isHeld && !this.#isFinished && !this.#connection.isBlocked) {
      if (this.#offset < this.#ring.oldest || this.#offset > this.#ring.total) {
        // An offset that was never reached belongs to an earlier program of the same name.
        this.#offset = this.#ring.oldest;
        if (!this.#events.missed(this.#offset)) return;
      }
      const piece = this.#ring.read(this.#offset);
      if (!piece) break;
      this.#offset += piece.bytes.length;
      this.#connection.write(dataKind(piece.channel), piece.bytes);
    }
    if (this.#offset !== before) this.#events.progressed();
    if (!this.#isFinished && !this.#isHeld && this.#ring.isEnded && this.lagBytes === 0) {
      this.close();
      this.#events.finished();
    }
  }
}
