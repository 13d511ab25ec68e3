/**
 * A connection from a box as frames. Bytes that are no frames end it; frames that come too fast wait in the box; a box that
 * does not take what it is sent is cut off.
 */
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import {
  encodeJson,
  type Frame,
  frameHeader,
  frameKind,
  maxDataBytes,
  maxFrameBytes,
} from "../../contract/link/codec.ts";
import { FrameFlow } from "../../contract/link/frame-flow.ts";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { Meter } from "./link-rates.ts";

export interface FrameSocketEvents {
  frame(frame: Frame): void;
  drained(): void;
  /** The bytes, or what the listener made of them, are against the protocol. */
  violated(reason: string): void;
  /** Once, after the last frame. */
  closed(): void;
}

/** For a connection without a listener. */
export const silent: FrameSocketEvents = {
  frame: () => undefined,
  drained: () => undefined,
  violated: () => undefined,
  closed: () => undefined,
};

/** SECURITY: what is sent to a box that does not read stays in the daemon's memory. */
const maxUnreadBytes = 8 << 20;

export class FrameSocket {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #flow: FrameFlow;
  #events: FrameSocketEvents = silent;
  #meter: Meter = () => 0;
  /** Whether the listener wants data. */
  #isPaused = false;
  /** There was too much at once; reading goes on when it has been paid for. */
  #isHeld = false;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#flow = new FrameFlow(socket, (frame) => this.#deliver(frame));
    socket.on("data", (chunk) => {
      try {
        this.#flow.push(chunk);
      } catch (error) {
        this.violate(messageOf(error));
      }
    });
    socket.on("drain", () => this.#events.drained());
    socket.on("error", () => undefined);
    socket.on("close", () => this.#flow.end(() => this.#events.closed()));
  }

  /** Who hears of it from now on: the handshake first, then what the connection turned out to be. */
  handOver(events: FrameSocketEvents): void {
    this.#events = events;
  }

  /** The cost of each frame from now on. A box that owes for another connection waits before the first one. */
  measureWith(meter: Meter): void {
    this.#meter = meter;
    const waitMs = meter(0);
    if (waitMs > 0) this.#hold(waitMs);
  }

  send(message: unknown): boolean {
    const frame = encodeJson(message);
    if (frame.length - 4 > maxFrameBytes) {
      throw new AgentBoxError(
        "input.too_large",
        `A message of ${frame.length} bytes does not fit into a frame.`,
      );
    }
    if (!this.#socket.writable || this.#isUnread()) return true;
    return this.#socket.write(frame);
  }

  write(chunk: Uint8Array): boolean {
    if (!this.#socket.writable || this.#isUnread()) return true;
    let isFree = true;
    this.#socket.cork();
    for (let at = 0; at < chunk.length; at += maxDataBytes) {
      const part = chunk.subarray(at, at + maxDataBytes);
      this.#socket.write(frameHeader(frameKind.data, part.length));
      isFree = this.#socket.write(part);
    }
    this.#socket.uncork();
    return isFree;
  }

  endInput(): void {
    if (this.#socket.writable) this.#socket.write(frameHeader(frameKind.eof, 0));
  }

  pause(): void {
    this.#isPaused = true;
    this.#flow.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isHeld) this.#flow.resume();
  }

  violate(reason: string): void {
    this.#events.violated(reason);
    this.destroy();
  }

  /** Sends what is queued, then closes. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
    // Otherwise a connection that is held back would never report its end.
    this.#flow.resume();
  }

  #isUnread(): boolean {
    if (this.#socket.writableLength <= maxUnreadBytes) return false;
    this.violate("it does not read what it is sent");
    return true;
  }

  #hold(waitMs: number): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#flow.pause();
    this.#clock.after(waitMs, () => {
      this.#isHeld = false;
      if (!this.#isPaused) this.#flow.resume();
    });
  }

  #deliver(frame: Frame): void {
    // A connection that was cut off has nothing more to say.
    if (this.#socket.destroyed && !this.#socket.readableEnded) return;
    const waitMs = this.#meter(frame.payload.length);
    if (waitMs > 0) this.#hold(waitMs);
    try {
      this.#events.frame(frame);
    } catch (error) {
      this.violate(messageOf(error));
    }
  }
}
