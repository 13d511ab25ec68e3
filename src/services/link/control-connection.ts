/** The one control connection of a box: every message is checked, every request is answered or times out. */
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { decodeJson, type Frame, frameKind } from "../../contract/link/codec.ts";
import { ControlMessage, type ControlRequest } from "../../contract/link/messages.ts";
import type { FrameSocket } from "./frame-socket.ts";
import type { Meter } from "./link-rates.ts";
import { problemOf, streamFailure } from "./stream-failure.ts";

/** Health comes every five seconds; after four missing ones in a row, boxd counts as gone. */
const silenceMs = 20_000;

export type Notice = Exclude<ControlMessage, { type: "response" | "error" }>;
type Request = Extract<ControlRequest, { type: "request" }>;

export interface ControlEvents {
  notice(notice: Notice): void;
  violated(reason: string): void;
  closed(): void;
}

export interface ControlOptions {
  readonly clock: Clock;
  readonly isPaused: boolean;
  readonly meter: Meter;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: () => void;
}

export class ControlConnection {
  readonly #socket: FrameSocket;
  readonly #clock: Clock;
  readonly #events: ControlEvents;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #isPaused: boolean;
  #cancelSilence: () => void = () => undefined;

  constructor(socket: FrameSocket, options: ControlOptions, events: ControlEvents) {
    this.#socket = socket;
    this.#clock = options.clock;
    this.#isPaused = options.isPaused;
    this.#events = events;
    socket.measureWith((bytes) => {
      const waitMs = options.meter(bytes);
      if (waitMs > 0) events.violated("more messages than a box has a reason for; they are read slowly");
      return waitMs;
    });
    socket.handOver({
      frame: (frame) => this.#receive(frame),
      drained: () => undefined,
      violated: (reason) => events.violated(reason),
      closed: () => this.#closed(),
    });
    this.#expectLife();
  }

  send(message: ControlRequest): void {
    this.#socket.send(message);
  }

  request(method: Request["method"], params: Request["params"], timeoutMs: number): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const cancelTimer = this.#clock.after(timeoutMs, () => {
        this.#waiting.delete(id);
        reject(
          new AgentBoxError("box.unreachable", `The box did not answer ${method} within ${timeoutMs} ms.`),
        );
      });
      this.#waiting.set(id, { resolve, reject, cancelTimer });
      this.#socket.send({ type: "request", id, method, params });
    });
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#expectLife();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(frame: Frame): void {
    this.#expectLife();
    if (frame.kind !== frameKind.json) return this.#socket.violate("a data frame on the control connection");
    const parsed = ControlMessage.safeParse(decodeJson(frame.payload));
    if (!parsed.success)
      return this.#socket.violate(`an invalid control message: ${problemOf(parsed.error)}`);
    const message = parsed.data;
    if (message.type !== "response" && message.type !== "error") return this.#events.notice(message);
    const waiting = this.#waiting.get(message.id);
    // An answer that came too late, or to nothing.
    if (!waiting) return;
    this.#waiting.delete(message.id);
    waiting.cancelTimer();
    if (message.type === "response") waiting.resolve(message.result);
    else waiting.reject(streamFailure(message));
  }

  #expectLife(): void {
    this.#cancelSilence();
    if (!this.#isPaused) this.#cancelSilence = this.#clock.after(silenceMs, () => this.#socket.destroy());
  }

  #closed(): void {
    this.#isPaused = true;
    this.#cancelSilence();
    for (const { reject, cancelTimer } of this.#waiting.values()) {
      cancelTimer();
      reject(new AgentBoxError("box.unreachable", "The box went away before it answered."));
    }
    this.#waiting.clear();
    this.#events.closed();
  }
}
