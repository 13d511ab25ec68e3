/** A budget of events per second: what a box may do to the gate without end, it may not do at any speed. */
import type { Clock } from "../../base/clock.ts";

/** So many a second, with a burst; what is too much is counted by the caller, not queued here. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #atMs: number;

  constructor(perSecond: number, burst: number, clock: Clock) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#atMs = clock.monotonicMs();
  }

  take(): boolean {
    const now = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#atMs) * this.#perMs);
    this.#atMs = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
