import { connect, type Socket } from "node:net";
import { AgentBoxError, messageOf } from "../base/errors.ts";
import {
  encodeJson,
  type Frame,
  type FrameKind,
  frameHeader,
  frameKind,
  maxDataBytes,
} from "../contract/link/codec.ts";
import { FrameFlow } from "../contract/link/frame-flow.ts";
import type { ControlMessage, Hello, StreamOutput } from "../contract/link/messages.ts";

/** One dialled connection to the host: frames in, frames out, back pressure both ways. */
export class Connection {
  readonly #socket: Socket;
  readonly #flow: FrameFlow;
  #onFrame: (frame: Frame) => void = () => undefined;
  #onDrain: () => void = () => undefined;
  #onClosed: () => void = () => undefined;
  readonly #onClose: (() => void)[] = [];

  constructor(path: string) {
    this.#socket = connect(path);
    // A frame that cannot be, or a listener that failed: this connection is lost, boxd is not.
    const guarded =
      <T>(act: (value: T) => void) =>
      (value: T) => {
        try {
          act(value);
        } catch (error) {
          process.stderr.write(`boxd: a connection was dropped: ${messageOf(error)}\n`);
          this.#socket.destroy();
        }
      };
    this.#flow = new FrameFlow(
      this.#socket,
      guarded((frame) => this.#onFrame(frame)),
    );
    this.#socket.on(
      "data",
      guarded((chunk: Buffer) => this.#flow.push(chunk)),
    );
    this.#socket.on("drain", () => this.#onDrain());
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", () => this.#flow.end(() => this.#closed()));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  get isBlocked(): boolean {
    return this.#socket.writableNeedDrain;
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#onFrame = listener;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  send(message: Hello | ControlMessage | StreamOutput): void {
    if (this.#socket.writable) this.#socket.write(encodeJson(message));
  }

  /** False when the host is slow: wait for `onDrain`. */
  write(kind: FrameKind, chunk: Uint8Array): boolean {
    if (!this.#socket.writable) return true;
    let isFree = true;
    this.#socket.cork();
    for (let at = 0; at < chunk.length; at += maxDataBytes) {
      const part = chunk.subarray(at, at + maxDataBytes);
      this.#socket.write(frameHeader(kind, part.length));
      isFree = this.#socket.write(part);
    }
    this.#socket.uncork();
    return isFree;
  }

  /** Resolves when more can be written; rejects when the host has gone. */
  async writable(): Promise<void> {
    if (this.isBlocked && this.isOpen) {
      await new Promise<void>((resolve) => {
        this.#onDrain = resolve;
        this.#onClosed = resolve;
      });
    }
    if (!this.isOpen) throw new AgentBoxError("box.unreachable", "The host closed the stream.");
  }

  /** The frames as a sequence; the host is slowed down to the pace of the one who takes them. */
  async *frames(): AsyncGenerator<Frame> {
    let next: Frame | undefined;
    let isClosed = false;
    let wake = () => undefined as void;
    this.onFrame((frame) => {
      next = frame;
      this.pause();
      wake();
    });
    this.onClose(() => {
      isClosed = true;
      wake();
    });
    for (;;) {
      if (next === undefined && !isClosed) await new Promise<void>((resolve) => (wake = resolve));
      if (next === undefined) return;
      const frame: Frame = next;
      next = undefined;
      yield frame;
      this.resume();
    }
  }

  pause(): void {
    this.#flow.pause();
  }

  resume(): void {
    this.#flow.resume();
  }

  /** Sends what is queued, then closes. */
  end(message?: StreamOutput): void {
    if (message) this.send(message);
    this.#socket.end();
    // The rest of the host's data is ignored, but must be read for the close to come.
    this.#onFrame = () => undefined;
    this.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #closed(): void {
    this.#onClosed();
    for (const listener of this.#onClose.splice(0)) listener();
  }
}

export const dataKind = (channel: 1 | 2): FrameKind => (channel === 1 ? frameKind.data : frameKind.stderr);
