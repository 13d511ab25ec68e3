/**
 * Reports what a box did wrong, and how often: at most once a second, and after some reports at most once a minute, so that
 * it cannot fill a log by doing it for ever.
 */
import type { Clock } from "../../base/clock.ts";
import { printable } from "../../base/printable.ts";
import { TokenBucket } from "../../base/rate.ts";

const everyMs = 1_000;
const laterMs = 60_000;
/** So many reports come soon. */
const soonReports = 10;

export class Violations {
  readonly #clock: Clock;
  readonly #report: (reason: string) => void;
  #reportedMs = Number.NEGATIVE_INFINITY;
  readonly #soon: TokenBucket;
  #everyMs = everyMs;
  readonly #seen = new Set<string>();
  #unreported = 0;
  #last = "";
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, report: (reason: string) => void) {
    this.#clock = clock;
    this.#report = report;
    this.#soon = new TokenBucket(1_000 / laterMs, soonReports, clock);
  }

  add(reason: string): void {
    this.#unreported += 1;
    this.#last = printable(reason).slice(0, 200);
    // A violation that has not been reported yet is worth reporting soon; a box can make up only so many.
    if (this.#seen.size < soonReports && !this.#seen.has(this.#last)) {
      this.#seen.add(this.#last);
      this.#everyMs = everyMs;
      this.#cancel?.();
      this.#cancel = undefined;
    }
    const waitMs = this.#reportedMs + this.#everyMs - this.#clock.monotonicMs();
    if (waitMs <= 0) this.#flush();
    else this.#cancel ??= this.#clock.after(waitMs, () => this.#flush());
  }

  close(): void {
    this.#cancel?.();
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#everyMs = this.#soon.take() ? everyMs : laterMs;
    const count = this.#unreported;
    this.#unreported = 0;
    this.#reportedMs = this.#clock.monotonicMs();
    this.#report(count === 1 ? this.#last : `${this.#last} (${count} times)`);
  }
}
