/** The gateway's state of one box: the models it may ask, its open requests, and how much of them is held in memory. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Share } from "../../base/rate.ts";
import type { ModelSpec } from "../../contract/model/api.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { ModelListener } from "../../ports/model-gateway.ts";
import type { ModelLimits } from "./limits.ts";

export interface BoxModelsOptions {
  readonly listener: ModelListener;
  readonly clock: Clock;
  readonly limits: ModelLimits;
  /** The bytes that this box may have parsed at once, beside all others. */
  readonly share: Share;
  /** Of all boxes. */
  readonly held: { bytes: number };
}

/** The cost of a value beyond its bytes: it is parsed, judged and written again. */
const bytesPerValue = 128;

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

  /** SECURITY: many large requests at once, of one box or of many, must not fill the daemon's memory. */
  hold(bytes: number): void {
    const { held, limits } = this.#options;
    this.#heldBytes += bytes;
    held.bytes += bytes;
    const isShort = held.bytes > limits.requestBytesTogether && this.#heldBytes > limits.requestBytesAlways;
    if (this.#heldBytes <= limits.requestBytesPerBox && !isShort) return;
    throw new AgentBoxError("input.too_large", "There are too many large requests under way.", {
      hint: "Wait until some of them are answered.",
    });
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#options.held.bytes -= bytes;
  }

  /** Milliseconds until the next request may be parsed after these bytes. */
  spend(bytes: number): number {
    return this.#options.share.spend(bytes);
  }

  spendValues(values: number): void {
    this.#options.share.spend(values * bytesPerValue);
  }

  /** SECURITY: the daemon has one thread, and parses for all boxes. Requests beyond a box's fair share wait. */
  async takeTurn(bytes: number): Promise<void> {
    const waitMs = this.spend(bytes);
    if (waitMs > 0) await new Promise<void>((resolve) => this.#options.clock.after(waitMs, resolve));
  }
}
