/**
 * Rates: how much of something may happen in a while. Everything that a box can repeat is measured with one of these, so
 * that it cannot take the daemon's time from others by doing it without end.
 */
import type { Clock } from "./clock.ts";

/** So many tokens a second, with a burst. */
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

  /** For what can be refused: false when it is too much, and then nothing was taken. */
  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /**
   * For events that have happened already: takes their price, into debt if need be, and says how long to wait until the
   * debt is paid. Zero without a debt.
   */
  spend(price: number): number {
    this.#refill();
    this.#tokens -= price;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Whether this much can be spent without a debt. */
  covers(price: number): boolean {
    this.#refill();
    return this.#tokens >= price;
  }

  #refill(): void {
    const now = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#atMs) * this.#perMs);
    this.#atMs = now;
  }
}

/** Says how long to wait until what was spent is paid. */
export interface Share {
  spend(price: number): number;
}

export interface SharedRateOptions {
  /** The share that each one has for itself. */
  readonly own: { readonly perSecond: number; readonly burst: number };
  /** The extra for one that needs more, alone. */
  readonly alone: number;
  /** The extra for all that need more, when they are several. */
  readonly together: number;
}

/** How long one that has used more than its own share counts as needing more. */
const busyMs = 2_000;

/**
 * A rate for each of many, and a rest for those who need more: one busy box may use what is idle, and many of them at
 * once cannot add up to more than the daemon can bear.
 */
export class SharedRate {
  readonly #options: SharedRateOptions;
  readonly #clock: Clock;
  readonly #alone: TokenBucket;
  readonly #together: TokenBucket;
  readonly #busy = new Map<object, number>();

  constructor(options: SharedRateOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#alone = new TokenBucket(options.alone, options.alone, clock);
    this.#together = new TokenBucket(options.together, options.together, clock);
  }

  /** One more who has a share. It ends with the last reference to it. */
  open(): Share {
    const { perSecond, burst } = this.#options.own;
    const own = new TokenBucket(perSecond, burst, this.#clock);
    return { spend: (price) => (own.covers(price) ? own.spend(price) : this.#more(own, price)) };
  }

  #more(own: TokenBucket, price: number): number {
    const rest = this.#isAlone(own) ? this.#alone : this.#together;
    if (!rest.covers(1)) return own.spend(price);
    rest.spend(price);
    return 0;
  }

  #isAlone(one: object): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#busy.set(one, nowMs);
    for (const [other, atMs] of this.#busy) if (nowMs - atMs > busyMs) this.#busy.delete(other);
    return this.#busy.size === 1;
  }
}
