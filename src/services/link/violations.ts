/** Reports what a box did wrong at most once a second, so that it cannot flood the log by doing it often. */
import type { Clock } from "../../base/clock.ts";
import { printable } from "../../base/printable.ts";

const everyMs = 1_000;

export class Violations {
  readonly #clock: Clock;
  readonly #report: (reason: string) => void;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #unreported = 0;
  #last = "";
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, report: (reason: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(reason: string): void {
    this.#unreported += 1;
    this.#last = printable(reason).slice(0, 200);
    const waitMs = this.#reportedMs + everyMs - this.#clock.monotonicMs();
    if (waitMs <= 0) this.#flush();
    else this.#cancel ??= this.#clock.after(waitMs, () => this.#flush());
  }

  close(): void {
    this.#cancel?.();
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const count = this.#unreported;
    this.#unreported = 0;
    this.#reportedMs = this.#clock.monotonicMs();
    this.#report(count === 1 ? this.#last : `${this.#last} (${count} times)`);
  }
}
