/**
 * The secrets of one box as the gate sees them. Every failure of a decision about one is a refusal, and a request that
 * waits for a person takes one of the box's questions and nothing else.
 */
import type { Clock } from "../../../base/clock.ts";
import { AgentBoxError } from "../../../base/errors.ts";
import type { DenyReason } from "../../../contract/network/policy.ts";
import type { Logger } from "../../../host/logger.ts";
import type { GateBox } from "../../../ports/gate.ts";
import type { Injection, OutgoingRequest, Prepared } from "../../../ports/injection.ts";
import type { GateLimits } from "../limits.ts";
import { Quota } from "./quota.ts";

export interface BoxSecretsOptions {
  /** Absent: no box has a secret. */
  readonly injection?: Injection | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: GateLimits;
}

/** A request that may be sent, with what goes into it. */
export type Sendable = Exclude<Prepared, { outcome: "refuse" }>;

export interface Refusal {
  readonly outcome: "refuse";
  readonly reason: DenyReason;
  readonly secret?: string | undefined;
  readonly message?: string | undefined;
  readonly hint?: string | undefined;
}

const pass: Sendable = { outcome: "pass", body: undefined };
const never = new AbortController().signal;

interface Waiting {
  /** How often secrets had changed when it began. */
  readonly before: number;
  readonly again: () => Prepared | Promise<Prepared>;
  readonly abort: AbortController | undefined;
}

export class BoxSecrets {
  /** For bodies that are held because the head depends on them. */
  readonly held: Quota;
  readonly #box: GateBox;
  readonly #options: BoxSecretsOptions;
  readonly #questions: Quota;
  #changes = 0;

  constructor(box: GateBox, options: BoxSecretsOptions, questions: Quota) {
    this.#box = box;
    this.#options = options;
    this.#questions = questions;
    this.held = new Quota(options.limits.heldBytesPerBox);
  }

  /** SECURITY: what cannot be told is managed, because then it is at worst read and never passed unread. */
  manages(host: string, port: number): boolean {
    try {
      return this.#options.injection?.manages(this.#box, host, port) === true;
    } catch (error) {
      this.#log(error);
      return true;
    }
  }

  /** An agreement may have been taken back: waiting requests are decided about again. */
  changed(): void {
    this.#changes += 1;
  }

  /** Only a value that must be fetched and a question to a person wait; every other request goes on in the same turn. */
  prepare(
    request: OutgoingRequest,
    question: () => AbortController,
  ): Sendable | Refusal | Promise<Sendable | Refusal> {
    const { injection } = this.#options;
    if (injection === undefined) return pass;
    try {
      // Other hosts need no question, and most requests are to those.
      const abort = this.manages(request.host, request.port) ? question() : undefined;
      const before = this.#changes;
      const again = (): Prepared | Promise<Prepared> =>
        injection.prepare(this.#box, request, abort?.signal ?? never);
      const prepared = again();
      return prepared instanceof Promise ? this.#wait(prepared, { before, again, abort }) : prepared;
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #wait(waiting: Promise<Prepared>, { before, again, abort }: Waiting): Promise<Sendable | Refusal> {
    const { clock, limits } = this.#options;
    const turn = { isTaken: false, isRefused: false };
    const cancel = clock.after(limits.secretPromptMs, () => {
      turn.isTaken = this.#questions.take();
      turn.isRefused = !turn.isTaken;
      if (turn.isRefused) abort?.abort();
    });
    try {
      let prepared = await waiting;
      // SECURITY: between a yes and the value it may be taken back, and then the value must not go out.
      for (let seen = before; seen !== this.#changes && prepared.outcome === "inject"; ) {
        seen = this.#changes;
        prepared = await again();
      }
      return turn.isRefused ? { outcome: "refuse", reason: "limit" } : prepared;
    } catch (error) {
      return this.#failed(error);
    } finally {
      cancel();
      if (turn.isTaken) this.#questions.give();
    }
  }

  #failed(error: unknown): Refusal {
    this.#log(error);
    return { outcome: "refuse", reason: "secret_unavailable" };
  }

  /** SECURITY: an unexpected error, made where a value is at hand, may have the value in its message. */
  #log(error: unknown): void {
    const code = error instanceof AgentBoxError ? error.code : "unexpected";
    this.#options.logger.error({ box: this.#box.name, code }, "deciding about a secret failed");
  }
}
