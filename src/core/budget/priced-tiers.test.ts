import { expect, it } from "vitest";
import type { BudgetLimit } from "../../contract/model/budget.ts";
import { noUsage } from "../../contract/model/usage.ts";
import memory from "../../drivers/store/memory/index.ts";
import { sampleBox } from "../../ports/store-samples.ts";
import type { ModelRequest } from "../../ports/model-gateway.ts";
import { Budgets } from "./budgets.ts";

const never = new AbortController().signal;
const nowMs = Date.UTC(2026, 2, 1, 12);
const money: BudgetLimit = { scope: "box", layer: "flag", microUsd: 10_000_000 };
const tokens: BudgetLimit = { scope: "box", layer: "flag", tokens: 1_000_000 };

async function openWith(limit: BudgetLimit) {
  const store = await memory.open("");
  const box = sampleBox("one", { createdAtMs: nowMs });
  await store.commit({ insert: { ...box, spec: { ...box.spec, budget: [limit] } }, events: [] });
  const budgets = new Budgets(
    {
      ports: {
        store,
        clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => undefined },
        report: (facts) => expect(facts).toBeUndefined(),
      },
      note: async () => undefined,
      background: (_what, task) => void task,
    },
    () => undefined,
  );
  /** The cost of a request whose answer had a thousand tokens each way. */
  const spend = async (
    asked: readonly string[],
    answered?: Readonly<Record<string, string>>,
    model = "claude-opus-4-6",
  ): Promise<number | string | undefined> => {
    const incarnation = "one-first";
    const request: ModelRequest = {
      box: { name: "one", incarnation },
      api: "anthropic",
      provider: "anthropic",
      model,
      estimate: { input: 1_000, output: 1_000 },
      terms: asked,
    };
    const admission = await budgets.admit(request, never);
    if (admission.outcome === "refused") return `${admission.code}: ${admission.message}`;
    let cost: number | undefined;
    budgets.onSettled((record) => (cost = record.costMicroUsd));
    const usage = { ...noUsage, input: 1_000, output: 1_000 };
    budgets.settle(admission.ticket, request, {
      status: 200,
      hasAnswer: true,
      usage,
      terms: answered,
      durationMs: 1,
    });
    return cost;
  };
  return { budgets, spend };
}

const standard = 5_000 + 25_000;

it("a budget of money counts a dearer tier as what it costs", async () => {
  const { budgets, spend } = await openWith(money);
  expect(await spend([])).toBe(standard);
  expect(await spend(["speed=fast"])).toBe(6 * standard);
  expect(await spend(["inference_geo=us"])).toBe(1.1 * standard);
  expect(await spend(["cache_ttl=1h"])).toBe(standard);
  expect((await budgets.status("one")).limits).toMatchObject([{ usedMicroUsd: 9.1 * standard }]);
});

it("reserves what the dearer tier may cost, before it is sent", async () => {
  const { spend } = await openWith({ ...money, microUsd: 4 * standard });
  expect(await spend([])).toBe(standard);
  // Less output than it asks for would have to do: the rest of the money is enough for a third of it.
  const { budgets } = await openWith({ ...money, microUsd: 3 * standard });
  const request: ModelRequest = {
    box: { name: "one", incarnation: "one-first" },
    api: "anthropic",
    provider: "anthropic",
    model: "claude-opus-4-6",
    estimate: { input: 1_000, output: 1_000 },
  };
  expect(await budgets.admit({ ...request, terms: ["speed=fast"] }, never)).toMatchObject({
    outcome: "admitted",
    maxOutput: expect.any(Number),
  });
});

it("refuses a tier that nobody has priced, and says how it can be", async () => {
  const { budgets, spend } = await openWith(money);
  const refused = await spend(["service_tier=priority", "web_search"]);
  expect(refused).toMatch(/^model\.price_unknown: .*"service_tier=priority" and "web_search"/);
  expect(refused).toContain('[model.prices."claude-opus-4-6".terms]');
  budgets.setPrices({
    "claude-opus-4-6": { input: 5, output: 25, terms: { "service_tier=priority": 2, web_search: 1.5 } },
  });
  expect(await spend(["service_tier=priority", "web_search"])).toBe(3 * standard);
});

it("believes what the answer says of its tier, and counts an unknown one as the dearest", async () => {
  const { spend } = await openWith(money);
  expect(await spend(["speed=fast"], { speed: "standard" })).toBe(standard);
  expect(await spend([], { speed: "fast" })).toBe(6 * standard);
  expect(await spend([], { service_tier: "ultra" })).toBe(6 * standard);
});

it("without a budget of money all tiers pass, and an unknown cost is not shown as the standard one", async () => {
  const { spend } = await openWith(tokens);
  expect(await spend(["speed=fast"])).toBe(6 * standard);
  expect(await spend(["service_tier=priority"])).toBeUndefined();
  expect(await spend(["web_search"])).toBeUndefined();
});
