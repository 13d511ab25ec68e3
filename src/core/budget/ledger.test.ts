import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BudgetLimit } from "../../contract/model/budget.ts";
import { zeroAmount } from "./amount.ts";
import { mostItCosts } from "./cost.ts";
import { BudgetLedger, type LoadTotal, type Reservation } from "./ledger.ts";
import type { HeldLimit } from "./limits-of.ts";
import type { Origin } from "./meter.ts";

const origin = (box = "one"): Origin => ({ atMs: 1, box, incarnation: box, run: 1, agent: "claude" });
const fresh: LoadTotal = async (_query, use) => use(zeroAmount);
const never = new AbortController().signal;

const limitOn = (box: string, limit: Pick<BudgetLimit, "tokens" | "microUsd">): HeldLimit => ({
  limit: { scope: "box", layer: "flag", ...limit },
  meter: { key: `box ${box}`, query: { box } },
  holder: box,
});
const limitOnAll = (limit: Pick<BudgetLimit, "tokens" | "microUsd">): HeldLimit => ({
  limit: { scope: "day", layer: "user", ...limit },
  meter: { key: "day", query: {} },
  holder: "one",
});

const want = (input: number, output: number) => ({ input, output, price: undefined });
const used = (tokens: number) => ({ tokens, microUsd: 0 });

/** The state of a promise, after everything that could run has run. */
async function soFar(promise: Promise<Reservation>): Promise<string> {
  let state = "waiting";
  promise.then(
    ({ outcome }) => (state = outcome),
    () => (state = "aborted"),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return state;
}

function ticketOf(reservation: Reservation): string {
  if (reservation.outcome !== "granted") throw new Error("not granted");
  return reservation.ticket;
}

describe("BudgetLedger, one request after the other", () => {
  it("grants what fits, and counts what was really used", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    const first = await ledger.reserve(origin(), want(100, 800), limits, never);
    expect(first).toMatchObject({ outcome: "granted", output: 800 });
    ledger.settle(ticketOf(first), used(150));
    expect(await ledger.totals(limits[0]!.meter)).toMatchObject({
      used: used(150),
      reserved: zeroAmount,
      inFlight: 0,
    });
    expect(await ledger.reserve(origin(), want(100, 750), limits, never)).toMatchObject({ output: 750 });
  });

  it("lowers the output of a request that is alone to what is left", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    expect(await ledger.reserve(origin(), want(100, 32_000), limits, never)).toMatchObject({ output: 900 });
  });

  it("lowers it for money too, with the dearest input", async () => {
    const ledger = new BudgetLedger(fresh);
    const price = { input: 1, output: 10, cache_write: 2 };
    const limits = [limitOn("one", { microUsd: 1_000 })];
    const reservation = await ledger.reserve(origin(), { input: 100, output: 500, price }, limits, never);
    expect(reservation).toMatchObject({ output: 80 });
    expect(mostItCosts(100, 80, price)).toBe(1_000);
  });

  it("refuses when what is left is not enough for an answer", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    expect(await ledger.reserve(origin(), want(985, 100), limits, never)).toMatchObject({
      outcome: "exhausted",
      obstacle: { unit: "tokens", used: 0, limit: 1_000 },
    });
    expect(await ledger.reserve(origin(), want(984, 100), limits, never)).toMatchObject({ output: 16 });
  });

  it("lets a request through that asks for less than the least", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    expect(await ledger.reserve(origin(), want(999, 1), limits, never)).toMatchObject({ output: 1 });
  });

  it("starts from what the store has, and from what is in flight already", async () => {
    const ledger = new BudgetLedger(async (_query, use) => use(used(600)));
    const first = ticketOf(await ledger.reserve(origin(), want(100, 100), [], never));
    const limits = [limitOn("one", { tokens: 1_000 })];
    expect(await ledger.totals(limits[0]!.meter)).toMatchObject({ used: used(600), reserved: used(200) });
    ledger.settle(first, used(300));
    expect(await ledger.reserve(origin(), want(50, 500), limits, never)).toMatchObject({ output: 50 });
  });

  it("counts requests of boxes that have no limit for those that share the meter", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOnAll({ tokens: 1_000 })];
    await ledger.totals(limits[0]!.meter);
    ledger.settle(ticketOf(await ledger.reserve(origin("two"), want(900, 90), [], never)), used(990));
    expect(await ledger.reserve(origin(), want(1, 100), limits, never)).toMatchObject({
      outcome: "exhausted",
    });
  });

  it("settles a ticket once", async () => {
    const ledger = new BudgetLedger(fresh);
    const ticket = ticketOf(await ledger.reserve(origin(), want(1, 1), [], never));
    expect([ledger.settle(ticket, used(1)), ledger.settle(ticket, used(1))]).toEqual([true, false]);
  });

  it("lets a request exceed its estimate, by no more than that, and stops the next", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    const first = ticketOf(await ledger.reserve(origin(), want(500, 100), limits, never));
    const second = ticketOf(await ledger.reserve(origin(), want(300, 100), limits, never));
    ledger.settle(first, used(650));
    ledger.settle(second, used(450));
    expect((await ledger.totals(limits[0]!.meter)).used.tokens).toBe(1_000 + 50 + 50);
    expect(await ledger.reserve(origin(), want(0, 16), limits, never)).toMatchObject({
      outcome: "exhausted",
    });
  });

  it("forgets totals that nobody needs, and loads them again", async () => {
    let loads = 0;
    const ledger = new BudgetLedger(async (_query, use) => use(used(++loads)));
    const { meter } = limitOn("one", {});
    const ticket = ticketOf(
      await ledger.reserve(origin(), want(1, 1), [limitOn("one", { tokens: 9 })], never),
    );
    ledger.forget(() => true);
    expect((await ledger.totals(meter)).used.tokens).toBe(1);
    ledger.settle(ticket, zeroAmount);
    ledger.forget(() => true);
    expect((await ledger.totals(meter)).used.tokens).toBe(2);
  });
});

describe("BudgetLedger, requests at the same time", () => {
  it("makes a request wait for others, and refuses it when they have used everything", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    const first = ticketOf(await ledger.reserve(origin(), want(100, 900), limits, never));
    const second = ledger.reserve(origin(), want(100, 100), limits, never);
    expect(await soFar(second)).toBe("waiting");
    ledger.settle(first, used(1_000));
    expect(await second).toMatchObject({ outcome: "exhausted" });
  });

  it("lets it through when they have left enough", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    const first = ticketOf(await ledger.reserve(origin(), want(100, 900), limits, never));
    const second = ledger.reserve(origin(), want(100, 100), limits, never);
    ledger.settle(first, used(200));
    expect(await second).toMatchObject({ outcome: "granted", output: 100 });
  });

  it("ends a wait when its signal does, and lets those behind go on", async () => {
    const ledger = new BudgetLedger(fresh);
    const limits = [limitOn("one", { tokens: 1_000 })];
    const first = ticketOf(await ledger.reserve(origin(), want(100, 500), limits, never));
    const gone = new AbortController();
    const great = ledger.reserve(origin(), want(100, 800), limits, gone.signal);
    const small = ledger.reserve(origin(), want(100, 100), limits, never);
    expect([await soFar(great), await soFar(small)]).toEqual(["waiting", "waiting"]);
    gone.abort(new Error("hung up"));
    await expect(great).rejects.toThrow("hung up");
    expect(await small).toMatchObject({ outcome: "granted" });
    ledger.settle(first, used(1));
  });

  it("does not make one box wait for the limit of another", async () => {
    const ledger = new BudgetLedger(fresh);
    const all = limitOnAll({ tokens: 100_000 });
    const limits = (box: string) => [limitOn(box, { tokens: 1_000 }), all];
    await ledger.reserve(origin("one"), want(100, 900), limits("one"), never);
    const waiting = ledger.reserve(origin("one"), want(100, 100), limits("one"), never);
    expect(await soFar(waiting)).toBe("waiting");
    expect(await ledger.reserve(origin("two"), want(100, 100), limits("two"), never)).toMatchObject({
      outcome: "granted",
    });
  });
});

interface Plan {
  readonly box: string;
  readonly input: number;
  readonly output: number;
  /** Shares of what was estimated and granted. */
  readonly inputUsed: number;
  readonly outputUsed: number;
  /** How many turns of the loop it takes; a request that hangs up does so while it waits. */
  readonly turns: number;
  readonly hangsUp: boolean;
}

/** In hundredths: most floating-point numbers below 1 are as good as zero, and would use nothing. */
const share = fc.oneof(
  fc.constant(1),
  fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
);
const plan: fc.Arbitrary<Plan> = fc.record({
  box: fc.constantFrom("one", "two", "three"),
  input: fc.nat(300),
  output: fc.nat(600),
  inputUsed: share,
  outputUsed: share,
  turns: fc.nat(4),
  hangsUp: fc.boolean(),
});
const price = { input: 1.5, output: 7.25, cached: 0.1, cache_write: 2.125 };

describe("BudgetLedger, whatever happens", () => {
  it("never lets the sum pass a limit, and ends every wait", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { maxLength: 40 }),
        fc.integer({ min: 1, max: 4_000 }),
        fc.integer({ min: 1, max: 20_000 }),
        fc.integer({ min: 1, max: 8_000 }),
        async (plans, boxTokens, boxMoney, allTokens) => {
          const ledger = new BudgetLedger(fresh);
          const all = limitOnAll({ tokens: allTokens });
          const limitsOf = (box: string) => [limitOn(box, { tokens: boxTokens, microUsd: boxMoney }), all];
          await Promise.all(plans.map((one) => live(ledger, one, limitsOf(one.box))));
          const boxes = ["one", "two", "three"];
          for (const held of [all, ...boxes.flatMap(limitsOf)]) {
            const totals = await ledger.totals(held.meter);
            expect(totals.used.tokens).toBeLessThanOrEqual(held.limit.tokens!);
            expect(totals.used.microUsd).toBeLessThanOrEqual(held.limit.microUsd ?? Infinity);
            expect(totals).toMatchObject({ reserved: zeroAmount, inFlight: 0 });
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

/** A request from its reservation to its end; it comes back when it was granted and settled, refused or aborted. */
async function live(ledger: BudgetLedger, one: Plan, limits: readonly HeldLimit[]): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const caller = new AbortController();
  for (let n = 0; n < one.turns; n++) await turn();
  const reserving = ledger.reserve(origin(one.box), { ...one, price }, limits, caller.signal);
  if (one.hangsUp) void turn().then(() => caller.abort(new Error("hung up")));
  const reservation = await reserving.catch(() => undefined);
  if (reservation?.outcome !== "granted") return;
  for (let n = 0; n < one.turns; n++) await turn();
  const input = Math.floor(one.input * one.inputUsed);
  const output = Math.floor(reservation.output * one.outputUsed);
  ledger.settle(reservation.ticket, { tokens: input + output, microUsd: mostItCosts(input, output, price) });
}
