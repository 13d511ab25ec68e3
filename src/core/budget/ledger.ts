/**
 * Reserves before a request and settles after it, against every limit that holds. As long as no request uses more
 * than it reserved, no sum ever passes a limit, however many run at the same time. A vendor may count more input than
 * was estimated; the overrun is then at most that difference for the requests that were in flight together, because
 * what was used is counted in full before the next is let through.
 */
import type { ModelQuery } from "../../ports/store.ts";
import { type Amount, minus, zeroAmount, plus } from "./amount.ts";
import { mostItCosts } from "./cost.ts";
import {
  decideReservation,
  type MeterTotals,
  type Obstacle,
  type ReservationDecision,
  type Want,
} from "./decide-reservation.ts";
import type { HeldLimit } from "./limits-of.ts";
import { covers, type Meter, type Origin } from "./meter.ts";

/** Hands over the usage so far, at a moment when no request is between being settled and being counted. */
export type LoadTotal = (query: ModelQuery, use: (used: Amount) => void) => Promise<void>;

export type Reservation =
  | { readonly outcome: "granted"; readonly ticket: string; readonly output: number }
  | { readonly outcome: "exhausted"; readonly obstacle: Obstacle };

interface OpenReservation {
  readonly origin: Origin;
  readonly amount: Amount;
}

interface Waiter {
  readonly origin: Origin;
  readonly want: Want;
  readonly limits: readonly HeldLimit[];
  /** The meters where others must settle first. */
  readonly meters: readonly string[];
  readonly resolve: (reservation: Reservation) => void;
}

export class BudgetLedger {
  readonly #load: LoadTotal;
  readonly #meters = new Map<string, MeterTotals & { readonly query: ModelQuery }>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #open = new Map<string, OpenReservation>();
  /** In the order they came; a later one does not overtake at a meter that another one waits for. */
  #waiting: Waiter[] = [];
  #tickets = 0;

  constructor(load: LoadTotal) {
    this.#load = load;
  }

  /** Fails only when the totals cannot be loaded or the signal ends the wait. */
  async reserve(
    origin: Origin,
    want: Want,
    limits: readonly HeldLimit[],
    signal: AbortSignal,
  ): Promise<Reservation> {
    await this.#ensureLoaded(limits.map(({ meter }) => meter));
    signal.throwIfAborted();
    // From here to the reservation nothing else can run.
    const decision = this.#decide(want, limits, this.#waiting);
    if (decision.outcome !== "wait") return this.#conclude(decision, origin, want);
    return this.#wait({ origin, want, limits, meters: decision.meters }, signal);
  }

  /** False when there is no such reservation (any more). */
  settle(ticket: string, actual: Amount): boolean {
    const reservation = this.#open.get(ticket);
    if (!reservation) return false;
    this.#open.delete(ticket);
    this.#change(reservation.origin, (totals) => ({
      used: plus(totals.used, actual),
      reserved: minus(totals.reserved, reservation.amount),
      inFlight: totals.inFlight - 1,
    }));
    this.#admitWaiting();
    return true;
  }

  async totals(meter: Meter): Promise<MeterTotals> {
    await this.#ensureLoaded([meter]);
    return this.#meters.get(meter.key)!;
  }

  /** Drops totals that nothing depends on at the moment; they are loaded again when they are needed. */
  forget(isMeant: (key: string) => boolean): void {
    const needed = new Set(this.#waiting.flatMap(({ limits }) => limits.map(({ meter }) => meter.key)));
    for (const [key, { inFlight }] of this.#meters) {
      if (inFlight === 0 && !needed.has(key) && isMeant(key)) this.#meters.delete(key);
    }
  }

  /** Again and again, because a meter may be forgotten while another is loaded. */
  async #ensureLoaded(meters: readonly Meter[]): Promise<void> {
    for (;;) {
      const missing = meters.filter(({ key }) => !this.#meters.has(key));
      if (missing.length === 0) return;
      await Promise.all(missing.map((meter) => this.#loadOne(meter)));
    }
  }

  #loadOne({ key, query }: Meter): Promise<void> {
    const known = this.#loading.get(key);
    if (known) return known;
    const loading = this.#load(query, (used) => {
      const open = [...this.#open.values()].filter(({ origin }) => covers(query, origin));
      const reserved = open.map(({ amount }) => amount).reduce(plus, zeroAmount);
      this.#meters.set(key, { query, used, reserved, inFlight: open.length });
    }).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }

  #decide(want: Want, limits: readonly HeldLimit[], ahead: readonly Waiter[]): ReservationDecision {
    const taken = new Set(ahead.flatMap(({ meters }) => meters));
    const meters = limits.map(({ meter }) => meter.key).filter((key) => taken.has(key));
    if (meters.length > 0) return { outcome: "wait", meters };
    return decideReservation(want, limits, ({ meter }) => this.#meters.get(meter.key)!);
  }

  #conclude(
    decision: Exclude<ReservationDecision, { outcome: "wait" }>,
    origin: Origin,
    want: Want,
  ): Reservation {
    if (decision.outcome === "exhausted") return decision;
    const { output } = decision;
    const ticket = String(++this.#tickets);
    const microUsd = want.price ? mostItCosts(want.input, output, want.price) : 0;
    const amount = { tokens: want.input + output, microUsd };
    this.#open.set(ticket, { origin, amount });
    this.#change(origin, (totals) => ({
      used: totals.used,
      reserved: plus(totals.reserved, amount),
      inFlight: totals.inFlight + 1,
    }));
    return { outcome: "granted", ticket, output };
  }

  /** Also at meters whose limits do not hold for this box: they hold for others that share them. */
  #change(origin: Origin, change: (totals: MeterTotals) => MeterTotals): void {
    for (const [key, totals] of this.#meters) {
      if (covers(totals.query, origin)) this.#meters.set(key, { query: totals.query, ...change(totals) });
    }
  }

  #wait(request: Omit<Waiter, "resolve">, signal: AbortSignal): Promise<Reservation> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting = this.#waiting.filter((one) => one.resolve !== waiter.resolve);
        reject(signal.reason as Error);
        this.#admitWaiting();
      };
      const waiter: Waiter = {
        ...request,
        resolve: (reservation) => {
          signal.removeEventListener("abort", stop);
          resolve(reservation);
        },
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #admitWaiting(): void {
    const staying: Waiter[] = [];
    for (const waiter of this.#waiting) {
      const { origin, want, limits } = waiter;
      const decision = this.#decide(want, limits, staying);
      if (decision.outcome === "wait") staying.push({ ...waiter, meters: decision.meters });
      else waiter.resolve(this.#conclude(decision, origin, want));
    }
    this.#waiting = staying;
  }
}
