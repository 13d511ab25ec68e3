/**
 * Messages of the agent protocol over a stream, one at a time. Guarantees that the other side never makes us hold more
 * than two messages or wait for the rest of one for long.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import type { SshKeysLimits } from "./limits.ts";
import { wireBytes } from "./wire.ts";

export interface MessageSocketOptions {
  readonly socket: Duplex;
  readonly clock: Clock;
  readonly limits: SshKeysLimits;
  /** Called with one message at a time: the next one waits until the promise is settled. */
  readonly onMessage: (message: Buffer) => Promise<void>;
  readonly onClosed: () => void;
}

const lengthBytes = 4;

export class MessageSocket {
  readonly #options: MessageSocketOptions;
  #held = Buffer.alloc(0);
  #isBusy = false;
  #cancelTimer: () => void = () => undefined;

  constructor(options: MessageSocketOptions) {
    this.#options = options;
    const { socket, onClosed } = options;
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.destroy());
    socket.once("close", () => {
      this.#cancelTimer();
      onClosed();
    });
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#setTimer();
  }

  send(message: Buffer): void {
    const { socket } = this.#options;
    if (!socket.destroyed) socket.write(wireBytes(message));
  }

  close(): void {
    this.#options.socket.destroy();
  }

  #take(chunk: Buffer): void {
    const { messageBytes } = this.#options.limits;
    const isFirst = this.#held.length === 0;
    this.#held = Buffer.concat([this.#held, chunk]);
    // SECURITY: it has to be read on while a person is asked, to see when the program goes away. An ssh client waits
    // for its answer, so a program that sends this much meanwhile is not one.
    if (this.#held.length > 2 * (messageBytes + lengthBytes)) return this.close();
    if (isFirst && !this.#isBusy) this.#setTimer();
    this.#next();
  }

  #next(): void {
    const { messageBytes } = this.#options.limits;
    if (this.#isBusy || this.#held.length < lengthBytes) return;
    const length = this.#held.readUInt32BE();
    if (length === 0 || length > messageBytes) return this.close();
    if (this.#held.length < lengthBytes + length) return;
    const message = Buffer.from(this.#held.subarray(lengthBytes, lengthBytes + length));
    this.#held = Buffer.from(this.#held.subarray(lengthBytes + length));
    this.#isBusy = true;
    this.#cancelTimer();
    this.#options.onMessage(message).then(
      () => this.#answered(),
      // SECURITY: an error we did not think of closes the connection; it never lets a message through.
      () => this.close(),
    );
  }

  #answered(): void {
    this.#isBusy = false;
    if (this.#options.socket.destroyed) return;
    this.#setTimer();
    this.#next();
  }

  #setTimer(): void {
    const { clock, limits } = this.#options;
    this.#cancelTimer();
    const ms = this.#held.length === 0 ? limits.idleMs : limits.messageMs;
    this.#cancelTimer = clock.after(ms, () => this.close());
  }
}
