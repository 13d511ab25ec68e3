/** Whether a request fits its limits now. Pure: totals in, a verdict out. */
import type { ModelPrice } from "../../contract/model/price.ts";
import type { Amount } from "./amount.ts";
import { mostItCosts, outputFor } from "./cost.ts";
import type { HeldLimit } from "./limits-of.ts";

/** Less output is no answer; vendors refuse to be asked for less. */
const leastOutput = 16;

/** The most a request may use. */
export interface Want {
  readonly input: number;
  readonly output: number;
  readonly price: ModelPrice | undefined;
}

export interface MeterTotals {
  readonly used: Amount;
  readonly reserved: Amount;
  /** How many requests have reserved something. */
  readonly inFlight: number;
}

export type Unit = "tokens" | "microUsd";

/** The one thing that stands in the way: a limit, and which of its two numbers. */
export interface Obstacle {
  readonly held: HeldLimit;
  readonly unit: Unit;
  readonly used: number;
  readonly limit: number;
  /** The most that the request may use, which does not fit. */
  readonly next?: number;
}

export type ReservationDecision =
  | { readonly outcome: "granted"; readonly output: number }
  /** Others that are under way may leave enough; `meters` are where. */
  | { readonly outcome: "wait"; readonly meters: readonly string[] }
  | { readonly outcome: "exhausted"; readonly obstacle: Obstacle };

/**
 * Usage never becomes less, so a request that does not fit beside it is refused at once. One that only does not fit
 * beside the reservations of others waits for them. When none of them is left, it gets less output.
 */
export function decideReservation(
  want: Want,
  limits: readonly HeldLimit[],
  totalsOf: (held: HeldLimit) => MeterTotals,
): ReservationDecision {
  let output = want.output;
  const waitFor: string[] = [];
  for (const held of limits) {
    const totals = totalsOf(held);
    for (const unit of ["tokens", "microUsd"] as const) {
      const limit = held.limit[unit];
      if (limit === undefined) continue;
      const used = totals.used[unit];
      const atBest = fitting(want, unit, limit - used);
      if (atBest < Math.min(leastOutput, want.output)) {
        return { outcome: "exhausted", obstacle: { held, unit, used, limit, next: mostOf(want, unit) } };
      }
      const now = fitting(want, unit, limit - used - totals.reserved[unit]);
      if (now < want.output && totals.inFlight > 0) waitFor.push(held.meter.key);
      output = Math.min(output, now);
    }
  }
  return waitFor.length > 0 ? { outcome: "wait", meters: waitFor } : { outcome: "granted", output };
}

/** Unknown prices are refused before. */
const mostOf = ({ input, output, price }: Want, unit: Unit): number =>
  unit === "tokens" || !price ? input + output : mostItCosts(input, output, price);

/** How much output fits into what is left. Money cannot be judged without a price; that is refused before. */
function fitting({ input, price }: Want, unit: Unit, left: number): number {
  if (unit === "tokens") return left - input;
  return price ? outputFor(left, input, price) : -1;
}
