/** A connection from a box as frames. Bytes that are no frames end it. */
import type { Socket } from "node:net";
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

export interface FrameSocketEvents {
  frame(frame: Frame): void;
  drained(): void;
  /** The bytes, or what the listener made of them, are against the protocol. */
  violated(reason: string): void;
  /** Once, after the last frame. */
  closed(): void;
}

/** For a connection that nobody listens to. */
export const silent: FrameSocketEvents = {
  frame: () => undefined,
  drained: () => undefined,
  violated: () => undefined,
  closed: () => undefined,
};

export class FrameSocket {
  readonly #socket: Socket;
  readonly #flow: FrameFlow;
  #events: FrameSocketEvents = silent;

  constructor(socket: Socket) {
    this.#socket = socket;
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

  send(message: unknown): boolean {
    const frame = encodeJson(message);
    if (frame.length - 4 > maxFrameBytes) {
      throw new AgentBoxError(
        "input.too_large",
        `A message of ${frame.length} bytes does not fit into a frame.`,
      );
    }
    return this.#socket.writable ? this.#socket.write(frame) : true;
  }

  write(chunk: Uint8Array): boolean {
    if (!this.#socket.writable) return true;
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
    this.#flow.pause();
  }

  resume(): void {
    this.#flow.resume();
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

  #deliver(frame: Frame): void {
    // A connection that was cut off has nothing more to say.
    if (this.#socket.destroyed && !this.#socket.readableEnded) return;
    try {
      this.#events.frame(frame);
    } catch (error) {
      this.violate(messageOf(error));
    }
  }
}
