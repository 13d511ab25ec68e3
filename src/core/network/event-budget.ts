/**
 * How many events one box may cause in a minute. The event log only grows, so what a box can put into it without end
 * would fill the host's disk; the rest is counted, and the count is handed back when the minute is over.
 */
import type { Clock } from "../../base/clock.ts";

const minuteMs = 60_000;

interface Minute {
  used: number;
  left: number;
}

export class EventBudget {
  readonly #clock: () => Clock;
  readonly #perMinute: number;
  readonly #onRest: (box: string, count: number) => void;
  readonly #minutes = new Map<string, Minute>();

  constructor(
    clock: () => Clock,
    perMinute: number,
    onRest: (box: string, count: number) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#onRest = onRest;
  }

  /** Whether there is room for one more; if not, `count` is added to the rest. */
  take(box: string, count = 1): boolean {
    const minute = this.#minuteOf(box);
    if (minute.used < this.#perMinute) {
      minute.used += 1;
      return true;
    }
    minute.left += count;
    return false;
  }

  /** Some that are not to be had, for another reason than how many there were. */
  miss(box: string, count = 1): void {
    this.#minuteOf(box).left += count;
  }

  #minuteOf(box: string): Minute {
    const found = this.#minutes.get(box);
    if (found) return found;
    const minute: Minute = { used: 0, left: 0 };
    this.#minutes.set(box, minute);
    this.#clock().after(minuteMs, () => {
      this.#minutes.delete(box);
      if (minute.left > 0) this.#onRest(box, minute.left);
    });
    return minute;
  }
}
