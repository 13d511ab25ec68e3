/** One stream into a box: checked messages, raw bytes, back pressure, and exactly one close. */
import { AgentBoxError } from "../../base/errors.ts";
import { decodeJson, type Frame, frameKind } from "../../contract/link/codec.ts";
import { type StreamInput, StreamOutput } from "../../contract/link/messages.ts";
import type { LinkStream } from "../../ports/link.ts";
import type { FrameSocket } from "./frame-socket.ts";
import { problemOf } from "./stream-failure.ts";

const lastTypes = new Set<StreamOutput["type"]>(["exit", "end", "failed"]);

export class HostLinkStream implements LinkStream {
  readonly #socket: FrameSocket;
  readonly #report: (reason: string) => void;
  readonly #messages: ((message: StreamOutput) => void)[] = [];
  readonly #data: ((chunk: Uint8Array, channel: 1 | 2) => void)[] = [];
  readonly #closes: ((error?: Error) => void)[] = [];
  readonly #drains: (() => void)[] = [];
  #ended: () => void = () => undefined;
  #isStarted = false;
  /** Whether the listener wants data; before the start none flows. */
  #isPaused = false;
  #hasEnded = false;
  #isClosed = false;
  #error: Error | undefined;

  constructor(socket: FrameSocket, report: (reason: string) => void) {
    this.#socket = socket;
    this.#report = report;
    socket.pause();
    socket.handOver({
      frame: (frame) => this.#receive(frame),
      drained: () => this.#drains.forEach((listener) => listener()),
      violated: (reason) => this.#violated(reason),
      closed: () => this.#closed(),
    });
  }

  onMessage(listener: (message: StreamOutput) => void): void {
    this.#messages.push(listener);
    this.#start();
  }

  onData(listener: (chunk: Uint8Array, channel: 1 | 2) => void): void {
    this.#data.push(listener);
    this.#start();
  }

  onClose(listener: (error?: Error) => void): void {
    this.#closes.push(listener);
    this.#start();
  }

  /** For the link itself: it delivers no data. */
  whenClosed(listener: () => void): void {
    this.#ended = listener;
  }

  onDrain(listener: () => void): void {
    this.#drains.push(listener);
  }

  write(chunk: Uint8Array): boolean {
    return this.#socket.write(chunk);
  }

  send(message: StreamInput): void {
    this.#socket.send(message);
  }

  endInput(): void {
    this.#socket.endInput();
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#isStarted) this.#socket.resume();
  }

  close(): void {
    this.#hasEnded = true;
    this.#isStarted = true;
    this.#socket.destroy();
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    setImmediate(() => {
      if (this.#isClosed) this.#closed();
      else if (!this.#isPaused) this.#socket.resume();
    });
  }

  #receive(frame: Frame): void {
    if (this.#hasEnded) return;
    if (frame.kind === frameKind.eof) return;
    if (frame.kind !== frameKind.json) {
      const channel = frame.kind === frameKind.stderr ? 2 : 1;
      for (const listener of this.#data) listener(frame.payload, channel);
      return;
    }
    const parsed = StreamOutput.safeParse(decodeJson(frame.payload));
    if (!parsed.success) return this.#socket.violate(`an invalid stream message: ${problemOf(parsed.error)}`);
    this.#hasEnded = lastTypes.has(parsed.data.type);
    for (const listener of this.#messages) listener(parsed.data);
    // boxd closes after its last message; a box that does not must not hold the connection.
    if (this.#hasEnded) this.#socket.end();
  }

  #violated(reason: string): void {
    this.#error = new AgentBoxError(
      "link.violation",
      "The box broke the link protocol, and the stream was closed.",
    );
    this.#report(reason);
  }

  #closed(): void {
    this.#isClosed = true;
    this.#ended();
    // A box can close before there is a listener; a later listener must hear of it as well.
    if (!this.#isStarted) return;
    const early = new AgentBoxError("box.unreachable", "The box closed the stream before it had ended.");
    const error = this.#error ?? (this.#hasEnded ? undefined : early);
    for (const listener of this.#closes.splice(0)) listener(error);
  }
}
