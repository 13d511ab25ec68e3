/**
 * The open connections of callers. Each ends with the credential it was opened with: after a revocation, watching ends
 * too.
 */
import type { Clock } from "../../base/clock.ts";
import type { Caller } from "./caller.ts";

const recheckMs = 20_000;

interface HeldConnection {
  readonly caller: Caller;
  readonly mayStill: () => boolean;
  readonly end: () => void;
}

export class HeldConnections {
  readonly #clock: () => Clock;
  readonly #isAlive: (caller: Caller) => boolean;
  readonly #open = new Set<HeldConnection>();
  #isWatching = false;

  constructor(clock: () => Clock, isAlive: (caller: Caller) => boolean) {
    this.#clock = clock;
    this.#isAlive = isAlive;
  }

  /** Calls `end` when the caller's credential ends, or `mayStill` says no; returns the way to let go. */
  hold(caller: Caller, end: () => void, mayStill: () => boolean = () => true): () => void {
    if (caller.credential.kind === "socket") return () => undefined;
    const one: HeldConnection = { caller, mayStill, end };
    this.#open.add(one);
    this.#watch();
    return () => this.#open.delete(one);
  }

  /** After every change of the records: connections whose credential is gone end now. */
  sweep(): void {
    for (const one of this.#open) {
      if (this.#isAlive(one.caller) && one.mayStill()) continue;
      this.#open.delete(one);
      one.end();
    }
  }

  /** Credentials also end by the clock. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#clock().after(recheckMs, () => {
      this.#isWatching = false;
      this.sweep();
      if (this.#open.size > 0) this.#watch();
    });
  }
}
