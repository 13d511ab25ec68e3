/** What the gateway knows about one box: what it may ask, what it has open, and how much of it is held in memory. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { ModelSpec } from "../../contract/model/api.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { ModelListener } from "../../ports/model-gateway.ts";
import type { ModelLimits } from "./limits.ts";

export interface BoxModelsOptions {
  readonly listener: ModelListener;
  readonly clock: Clock;
  readonly limits: ModelLimits;
}

export class BoxModels {
  readonly box: GateBox;
  spec: ModelSpec;
  readonly #options: BoxModelsOptions;
  readonly #open = new Set<() => void>();
  #longestConversation = 0;
  #heldBytes = 0;
  #sockets = 0;
  #lastProgressMs = Number.NEGATIVE_INFINITY;

  constructor(box: GateBox, spec: ModelSpec, options: BoxModelsOptions) {
    this.box = box;
    this.spec = spec;
    this.#options = options;
  }

  /** Notes something open; the result takes it out again. */
  track(end: () => void): () => void {
    this.#open.add(end);
    return () => void this.#open.delete(end);
  }

  end(): void {
    for (const end of this.#open) end();
  }

  /** Something of an answer has come. */
  progressed(): void {
    const now = this.#options.clock.monotonicMs();
    if (now - this.#lastProgressMs < this.#options.limits.progressMs) return;
    this.#lastProgressMs = now;
    this.#options.listener.progressed(this.box);
  }

  /** Tokens of the longest conversation so far: the most that a request which only names an earlier answer stands for. */
  get longestConversation(): number {
    return this.#longestConversation;
  }

  noteConversation(tokens: number): void {
    this.#longestConversation = Math.max(this.#longestConversation, tokens);
  }

  /** Counts a WebSocket in; the result counts it out again. */
  openSocket(): () => void {
    if (this.#sockets >= this.#options.limits.socketsPerBox) {
      throw new AgentBoxError("input.too_large", "This box has too many WebSockets to models open.", {
        hint: "Close some of them, or send requests over HTTP.",
      });
    }
    this.#sockets += 1;
    return () => void (this.#sockets -= 1);
  }

  /** SECURITY: many large requests at once must not fill the daemon's memory. */
  hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes <= this.#options.limits.requestBytesPerBox) return;
    throw new AgentBoxError("input.too_large", "This box has too many large requests under way.", {
      hint: "Wait until some of them are answered.",
    });
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
