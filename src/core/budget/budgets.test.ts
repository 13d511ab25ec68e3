import { describe, expect, it } from "vitest";
import type { Box } from "../../contract/box.ts";
import type { BudgetLimit } from "../../contract/model/budget.ts";
import { noUsage } from "../../contract/model/usage.ts";
import memory from "../../drivers/store/memory/index.ts";
import { sampleBox } from "../../ports/store-samples.ts";
import type { Admission, ModelOutcome, ModelRequest } from "../../ports/model-gateway.ts";
import type { Store } from "../../ports/store.ts";
import { type BudgetContext, Budgets } from "./budgets.ts";

const never = new AbortController().signal;
const dayMs = 86_400_000;
const noon = Date.UTC(2026, 2, 1, 12);

/** A daemon's share of budgets on a store; opening it twice on one store is a restart. */
function openBudgets(store: Store) {
  const paused: string[] = [];
  const time = { nowMs: noon };
  const context: BudgetContext = {
    ports: {
      store,
      clock: { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs, after: () => () => undefined },
      report: (facts) => expect(facts).toBeUndefined(),
    },
    note: async (type, box, data = {}) => {
      const of = box ? { box: box.name, incarnation: box.incarnation } : {};
      await store.commit({ events: [{ atMs: time.nowMs, type, ...of, data }] });
    },
    background: (_what, task) => void task,
  };
  return { budgets: new Budgets(context, ({ name }) => paused.push(name)), paused, time };
}

async function openWith(...boxes: Box[]) {
  const store = await memory.open("");
  for (const box of boxes) await store.commit({ insert: box, events: [] });
  return { store, ...openBudgets(store) };
}

/** The agent's so-many-th task. */
const turn = (turns: number): NonNullable<Box["run"]> => ({
  mode: "headless",
  turns,
  starts: 1,
  state: "working",
  stateSinceMs: noon,
});

const boxWith = (name: string, budget: BudgetLimit[], change: Partial<Box> = {}): Box => {
  const box = sampleBox(name, { run: turn(7), createdAtMs: noon - dayMs, ...change });
  return { ...box, spec: { ...box.spec, budget } };
};

const request = (box: string, change: Partial<ModelRequest> = {}): ModelRequest => ({
  box: { name: box, incarnation: `${box}-first` },
  api: "anthropic",
  provider: "anthropic",
  model: "claude-haiku-4-5",
  estimate: { input: 100, output: 100 },
  ...change,
});

const answer = (input: number, output: number): ModelOutcome => ({
  usage: { ...noUsage, input, output },
  hasAnswer: true,
  status: 200,
  durationMs: 5,
});

function ticketOf(admission: Admission): string {
  expect(admission).toMatchObject({ outcome: "admitted" });
  return admission.outcome === "admitted" ? admission.ticket : "";
}

/** One request that uses what it is told to. */
async function spend(budgets: Budgets, box: string, input: number, output: number): Promise<void> {
  const one = request(box, { estimate: { input, output } });
  budgets.settle(ticketOf(await budgets.admit(one, never)), one, answer(input, output));
}

const refusal = (budgets: Budgets, box: string) =>
  budgets
    .admit(request(box), never)
    .then((admission) => (admission.outcome === "refused" ? admission.code : "admitted"));

const eventsOf = async (store: Store, type: string) =>
  (await store.listEvents({ type, limit: 100 })).map(({ box, data }) => ({ box, ...data }));

describe("what is recorded", () => {
  it("of a request that its box left is the estimate, and of one that failed nothing", async () => {
    const { store, budgets } = await openWith(boxWith("one", []));
    for (const hasAnswer of [true, false]) {
      const one = request("one");
      const ticket = ticketOf(await budgets.admit(one, never));
      budgets.settle(ticket, one, { hasAnswer, status: 499, error: "client_closed", durationMs: 5 });
    }
    expect(await store.sumModel({ box: "one" })).toMatchObject({ usage: { input: 100, output: 100 } });
  });

  it("of one that does not say how long its answer may be is what is usual; reserved is all it may have", async () => {
    const { store, budgets } = await openWith(
      boxWith("one", [{ scope: "box", layer: "user", tokens: 1_000 }]),
    );
    const one = request("one", { estimate: { input: 100, output: 200, longest: 800 } });
    const first = await budgets.admit(one, never);
    expect(first).toMatchObject({ outcome: "admitted" });
    expect(first).not.toHaveProperty("maxOutput");
    expect((await budgets.status("one")).limits).toMatchObject([{ reservedTokens: 900 }]);
    // The second waits for the first, and then gets what that has left.
    const second = budgets.admit(one, never);
    budgets.settle(ticketOf(first), one, { hasAnswer: true, status: 200, durationMs: 5 });
    expect(await second).toMatchObject({ outcome: "admitted", maxOutput: 600 });
    expect(await store.sumModel({ box: "one" })).toMatchObject({ usage: { input: 100, output: 200 } });
  });

  it("is one record with usage, cost, estimate and the run of the box", async () => {
    const { store, budgets } = await openWith(boxWith("one", [], { projectDir: "/p" }));
    const one = request("one");
    const usage = { input: 50, output: 10, cached: 20, cacheWrite: 0, reasoning: 3 };
    budgets.settle(ticketOf(await budgets.admit(one, never)), one, {
      ...answer(0, 0),
      usage,
      stop: "end",
      firstByteMs: 2.4,
    });
    expect(await store.listModel({ limit: 10 })).toEqual([
      {
        id: 1,
        atMs: noon,
        box: "one",
        incarnation: "one-first",
        run: 7,
        agent: "shell",
        projectDir: "/p",
        provider: "anthropic",
        model: "claude-haiku-4-5",
        usage,
        estimate: { input: 100, output: 100 },
        costMicroUsd: 30 + 2 + 50,
        status: 200,
        durationMs: 5,
        firstByteMs: 2,
      },
    ]);
  });

  it("has no cost for a model without a price, until a person gives it one", async () => {
    const { store, budgets } = await openWith(boxWith("one", []));
    const one = request("one", { model: "mine" });
    const ask = async () => budgets.settle(ticketOf(await budgets.admit(one, never)), one, answer(1_000, 0));
    await ask();
    budgets.setPrices({ mine: { input: 2, output: 2 } });
    await ask();
    const [unknown, known] = await store.listModel({ limit: 10 });
    expect(unknown).not.toHaveProperty("costMicroUsd");
    expect(known).toMatchObject({ costMicroUsd: 2_000 });
  });

  it("counts the estimate of an answer that broke off, and nothing for an error or no answer", async () => {
    const { store, budgets } = await openWith(
      boxWith("one", [{ scope: "box", layer: "flag", tokens: 10_000 }]),
    );
    const end = async (outcome: Partial<ModelOutcome>) => {
      const one = request("one");
      const { usage: _usage, ...rest } = answer(0, 0);
      budgets.settle(ticketOf(await budgets.admit(one, never)), one, { ...rest, ...outcome });
      return (await budgets.status("one")).limits[0]!.usedTokens;
    };
    expect(await end({ hasAnswer: true })).toBe(200);
    expect(await end({ hasAnswer: false, status: 429, error: "rate_limit_error" })).toBe(200);
    expect(await end({ hasAnswer: false, status: 0, error: "model.unavailable" })).toBe(200);
    expect(await store.sumModel({})).toMatchObject({ requests: 3, estimated: 1, unpriced: 0 });
  });

  it("gives nothing back for counts that a box or its server made up", async () => {
    const { budgets } = await openWith(boxWith("one", [{ scope: "box", layer: "flag", tokens: 1_000 }]));
    const one = request("one", { estimate: { input: -5_000, output: Number.NaN } });
    const admission = await budgets.admit(one, never);
    expect(admission).toMatchObject({ outcome: "admitted", maxOutput: 1_000 });
    budgets.settle(ticketOf(admission), one, answer(-900, 100));
    expect((await budgets.status("one")).limits[0]).toMatchObject({ usedTokens: 100, reservedTokens: 0 });
  });
});

describe("limits", () => {
  it("hold for run, box, day and tree, of every layer, and the strictest stops the box", async () => {
    for (const scope of ["run", "box", "day", "tree"] as const) {
      for (const layer of ["user", "project", "flag"] as const) {
        const { budgets, paused } = await openWith(
          boxWith(
            "one",
            [
              { scope, layer, tokens: 1_000 },
              { scope: "box", layer: "user", tokens: 50_000 },
            ],
            {
              projectDir: "/p",
            },
          ),
        );
        await spend(budgets, "one", 500, 400);
        expect(await refusal(budgets, "one"), `${scope} ${layer}`).toBe("budget.exhausted");
        expect(paused).toEqual(["one"]);
        expect(await budgets.status("one")).toMatchObject({ isExhausted: true });
      }
    }
  });

  it("of a run begin anew with the next task, not with a restart; those of the box do not", async () => {
    const limits: BudgetLimit[] = [
      { scope: "run", layer: "flag", tokens: 1_000 },
      { scope: "box", layer: "flag", tokens: 1_800 },
    ];
    const box = boxWith("one", limits);
    const { store, budgets } = await openWith(box);
    await spend(budgets, "one", 500, 400);
    expect(await refusal(budgets, "one")).toBe("budget.exhausted");
    await store.commit({ update: { ...box, run: { ...turn(7), starts: 2 }, startedAtMs: 8 }, events: [] });
    expect(await refusal(budgets, "one")).toBe("budget.exhausted");
    await store.commit({ update: { ...box, run: turn(8) }, events: [] });
    expect(await budgets.status("one")).toMatchObject({ isExhausted: false });
    await spend(budgets, "one", 500, 300);
    expect(await refusal(budgets, "one")).toBe("budget.exhausted");
    await store.commit({ update: { ...box, run: turn(9) }, events: [] });
    expect(await refusal(budgets, "one")).toBe("budget.exhausted");
  });

  it("of a day are for all boxes when a person sets them, and for the project when it does", async () => {
    const mine: BudgetLimit = { scope: "day", layer: "user", tokens: 2_000 };
    const theirs: BudgetLimit = { scope: "day", layer: "project", tokens: 1_000 };
    const { budgets, time } = await openWith(
      boxWith("one", [mine, theirs], { projectDir: "/p" }),
      boxWith("two", [mine, theirs], { projectDir: "/p" }),
      boxWith("three", [mine], { projectDir: "/q" }),
    );
    await spend(budgets, "one", 900, 50);
    expect(await refusal(budgets, "two")).toBe("budget.exhausted");
    await spend(budgets, "three", 900, 50);
    expect(await refusal(budgets, "three")).toBe("budget.exhausted");
    time.nowMs += dayMs / 2;
    expect(await refusal(budgets, "two")).toBe("admitted");
  });

  it("of a tree hold for every box below, also those that were there before them", async () => {
    const { budgets } = await openWith(
      boxWith("shop", [{ scope: "tree", layer: "flag", tokens: 1_000 }]),
      boxWith("shop-web", []),
      boxWith("shop-web-api", [{ scope: "tree", layer: "flag", tokens: 600 }]),
      boxWith("shopper", []),
    );
    await spend(budgets, "shop-web-api", 400, 150);
    expect(await refusal(budgets, "shop-web-api")).toBe("budget.exhausted");
    await spend(budgets, "shopper", 5_000, 500);
    await spend(budgets, "shop-web", 300, 100);
    expect(await refusal(budgets, "shop")).toBe("budget.exhausted");
    expect((await budgets.status("shop-web")).limits).toMatchObject([{ scope: "tree", usedTokens: 950 }]);
  });

  it("of money refuse a model without a price, and no other", async () => {
    const { budgets, paused } = await openWith(
      boxWith("one", [{ scope: "run", layer: "flag", microUsd: 1_000 }]),
    );
    expect(await budgets.admit(request("one", { model: "mine" }), never)).toMatchObject({
      outcome: "refused",
      code: "model.price_unknown",
    });
    expect(paused).toEqual([]);
    expect(await budgets.admit(request("one"), never)).toMatchObject({ outcome: "admitted" });
  });

  it("are counted from the store by the next daemon", async () => {
    const first = await openWith(boxWith("one", [{ scope: "box", layer: "flag", tokens: 1_000 }]));
    await spend(first.budgets, "one", 500, 400);
    expect(await refusal(openBudgets(first.store).budgets, "one")).toBe("budget.exhausted");
  });

  it("do not hold for a box that only has the name of the one that asks", async () => {
    const { budgets } = await openWith(boxWith("one", []));
    const other = request("one", { box: { name: "one", incarnation: "other" } });
    await expect(budgets.admit(other, never)).rejects.toMatchObject({ code: "box.not_found" });
    await expect(budgets.status("gone")).rejects.toMatchObject({ code: "box.not_found" });
  });

  it("that were raised while a request was being judged are the ones it is judged by", async () => {
    const box = boxWith("one", [{ scope: "box", layer: "flag", tokens: 1_000 }]);
    const { store, budgets, paused } = await openWith(box);
    const first = request("one", { estimate: { input: 500, output: 500 } });
    const ticket = ticketOf(await budgets.admit(first, never));
    const waiting = budgets.admit(request("one"), never);
    await budgets.status("one");
    const spec = { ...box.spec, budget: [{ scope: "box" as const, layer: "flag" as const, tokens: 2_000 }] };
    await store.commit({ update: { ...box, spec }, events: [] });
    budgets.limitsChanged();
    budgets.settle(ticket, first, answer(500, 500));
    expect(await waiting).toMatchObject({ outcome: "admitted" });
    expect(paused).toEqual([]);
  });
});

describe("what people are told", () => {
  const limits: BudgetLimit[] = [{ scope: "box", layer: "project", tokens: 1_000 }];

  it("is once that four fifths are used, also after a restart", async () => {
    const { store, budgets } = await openWith(boxWith("one", limits));
    await spend(budgets, "one", 700, 99);
    await budgets.status("one");
    expect(await eventsOf(store, "budget.warned")).toEqual([]);
    await spend(budgets, "one", 1, 0);
    await spend(budgets, "one", 1, 0);
    await spend(openBudgets(store).budgets, "one", 1, 0);
    await expect
      .poll(() => eventsOf(store, "budget.warned"))
      .toMatchObject([
        { box: "one", scope: "box", layer: "project", unit: "tokens", used: 800, limit: 1_000 },
      ]);
  });

  it("is once that it is used up, though each refusal pauses the box", async () => {
    const { store, budgets, paused } = await openWith(boxWith("one", limits));
    await spend(budgets, "one", 500, 400);
    const admission = await budgets.admit(request("one"), never);
    expect(admission).toMatchObject({
      message: expect.stringMatching(
        /1,000 tokens, set by project.* 100 tokens left.*agentbox budget raise one/,
      ),
    });
    await refusal(budgets, "one");
    expect(paused).toEqual(["one", "one"]);
    const next = openBudgets(store);
    expect(await next.budgets.status("one")).toMatchObject({ isExhausted: true });
    await refusal(next.budgets, "one");
    expect(await eventsOf(store, "budget.exhausted")).toMatchObject([
      { box: "one", used: 900, limit: 1_000 },
    ]);
  });
});
