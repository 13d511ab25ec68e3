import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BudgetLimit } from "../src/contract/model/budget.ts";
import { noUsage } from "../src/contract/model/usage.ts";
import type { Core } from "../src/core/context.ts";
import { pauseBox } from "../src/core/box/pause-box.ts";
import { raiseBudget, resumeWithinBudget } from "../src/core/budget/raise-budget.ts";
import { readUsage } from "../src/core/budget/read-usage.ts";
import type { ModelRequest } from "../src/ports/model-gateway.ts";
import { summariseBoxes } from "../src/core/box/summarise-box.ts";
import { createOn, eventTypes, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
const never = new AbortController().signal;

beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

/** A running box with these limits. */
async function startWith(name: string, budget: BudgetLimit[]): Promise<void> {
  await createOn(core, { name });
  const box = await core.getBox(name);
  await core.commit({ update: { ...box, spec: { ...box.spec, budget } }, events: [] });
}

async function ask(name: string, tokens: number): Promise<string> {
  const { incarnation } = await core.getBox(name);
  const request: ModelRequest = {
    box: { name, incarnation },
    api: "anthropic",
    provider: "anthropic",
    model: "claude-haiku-4-5",
    estimate: { input: tokens, output: 100 },
  };
  const admission = await core.budgets.admit(request, never);
  if (admission.outcome === "refused") return admission.code;
  const usage = { ...noUsage, input: tokens };
  core.budgets.settle(admission.ticket, request, { usage, hasAnswer: true, status: 200, durationMs: 1 });
  return "answered";
}

const phaseOf = async (name: string) => (await core.getBox(name)).state.phase;
const runLimit: BudgetLimit = { scope: "run", layer: "project", tokens: 1_000 };

describe("a box whose budget is used up", () => {
  it("is paused, and goes on when the budget is raised", async () => {
    await startWith("worker", [runLimit, { scope: "box", layer: "user", tokens: 5_000 }]);
    expect(await ask("worker", 950)).toBe("answered");
    expect(await phaseOf("worker")).toBe("running");
    expect(await ask("worker", 50)).toBe("budget.exhausted");
    await expect.poll(() => phaseOf("worker")).toBe("paused");
    const answer = await raiseBudget(core, "worker", { tokens: 500 });
    expect(answer).toMatchObject({
      isExhausted: false,
      limits: [
        { scope: "run", tokens: 1_500, usedTokens: 950 },
        { scope: "box", tokens: 5_000, usedTokens: 950 },
      ],
    });
    expect(await phaseOf("worker")).toBe("running");
    expect(await ask("worker", 50)).toBe("answered");
    const said = (await eventTypes(core, "worker")).filter((type) => /^budget|paused|resumed/.test(type));
    expect(said).toEqual(["budget.warned", "budget.exhausted", "box.paused", "budget.raised", "box.resumed"]);
  });

  it("says what the next request may use, and is not resumed into the same wall", async () => {
    await startWith("worker", [runLimit]);
    expect(await ask("worker", 950)).toBe("answered");
    expect(await core.budgets.status("worker")).not.toHaveProperty("obstacle");
    expect(await ask("worker", 50)).toBe("budget.exhausted");
    await expect.poll(() => phaseOf("worker")).toBe("paused");
    const obstacle = { scope: "run", unit: "tokens", used: 950, limit: 1_000, next: 150, holder: "worker" };
    expect(await core.budgets.status("worker")).toMatchObject({ isExhausted: true, obstacle });
    const sentence =
      "The next request may use 150 tokens; the limit is 1,000 tokens, of which 950 tokens are used.";
    const [summary] = await summariseBoxes(core, await host.store.listBoxes());
    expect(summary?.needs).toMatchObject([
      { kind: "budget", sentence: `${sentence} It is paused until you raise it.` },
    ]);
    await expect(resumeWithinBudget(core, "worker")).rejects.toMatchObject({
      code: "budget.exhausted",
      message: `"worker" waits for its budget. ${sentence}`,
      hint: "Raise it: agentbox budget raise worker --scope run --tokens 100",
    });
    expect(await phaseOf("worker")).toBe("paused");
    // The next daemon knows it, too.
    await core[Symbol.asyncDispose]();
    core = await openTestCore(host);
    expect(await core.budgets.status("worker")).toMatchObject({ obstacle });
    // The hint is enough for the request.
    await raiseBudget(core, "worker", { tokens: 100, scope: "run" });
    expect(await phaseOf("worker")).toBe("running");
    await pauseBox(core, "worker");
    expect((await resumeWithinBudget(core, "worker")).state.phase).toBe("running");
  });

  it("is still known as such by the next daemon, which raises it and lets it go on", async () => {
    await startWith("worker", [runLimit]);
    await ask("worker", 950);
    await ask("worker", 50);
    await expect.poll(() => phaseOf("worker")).toBe("paused");
    await core[Symbol.asyncDispose]();
    core = await openTestCore(host);
    expect(await core.budgets.status("worker")).toMatchObject({ isExhausted: true });
    expect(await raiseBudget(core, "worker", { tokens: 500 })).toMatchObject({ isExhausted: false });
    expect(await phaseOf("worker")).toBe("running");
  });

  it("stays paused when what was added is not enough, or when a person had paused it", async () => {
    await startWith("worker", [runLimit]);
    await ask("worker", 984);
    core.budgets.settle(...(await overrun("worker", 16, 500)));
    await ask("worker", 1);
    await expect.poll(() => phaseOf("worker")).toBe("paused");
    expect(await raiseBudget(core, "worker", { tokens: 1 })).toMatchObject({ isExhausted: true });
    expect(await phaseOf("worker")).toBe("paused");

    await startWith("other", [runLimit]);
    await pauseBox(core, "other");
    expect(await raiseBudget(core, "other", { tokens: 1 })).toMatchObject({ isExhausted: false });
    expect(await phaseOf("other")).toBe("paused");
  });
});

/** An admitted request and an answer that is greater than it was expected. */
async function overrun(
  name: string,
  output: number,
  input: number,
): Promise<Parameters<Core["budgets"]["settle"]>> {
  const { incarnation } = await core.getBox(name);
  const request: ModelRequest = {
    box: { name, incarnation },
    api: "anthropic",
    provider: "anthropic",
    model: "claude-haiku-4-5",
    estimate: { input: 0, output },
  };
  const admission = await core.budgets.admit(request, never);
  if (admission.outcome === "refused") throw new Error(admission.message);
  const usage = { ...noUsage, input };
  return [admission.ticket, request, { usage, hasAnswer: true, status: 200, durationMs: 1 }];
}

describe("raising a budget", () => {
  it("needs an amount, and a limit of that kind", async () => {
    await startWith("worker", [runLimit]);
    const invalid = { code: "input.invalid" };
    await expect(raiseBudget(core, "worker", {})).rejects.toMatchObject(invalid);
    await expect(raiseBudget(core, "worker", { microUsd: 5 })).rejects.toMatchObject({
      ...invalid,
      hint: "Its limits are: run (tokens).",
    });
    await expect(raiseBudget(core, "worker", { scope: "day", tokens: 5 })).rejects.toMatchObject(invalid);
    await expect(raiseBudget(core, "gone", { tokens: 5 })).rejects.toMatchObject({ code: "box.not_found" });
    expect(await raiseBudget(core, "worker", { scope: "run", tokens: 5 })).toMatchObject({
      limits: [{ tokens: 1_005 }],
    });
  });

  it("points to the box that holds the limit of a tree, which lets those below go on", async () => {
    await startWith("shop", [{ scope: "tree", layer: "user", tokens: 1_000 }]);
    await startWith("shop-web", []);
    await ask("shop-web", 900);
    expect(await ask("shop-web", 90)).toBe("budget.exhausted");
    await expect(raiseBudget(core, "shop-web", { tokens: 500 })).rejects.toMatchObject({
      hint: expect.stringContaining("agentbox budget raise shop --scope tree"),
    });
    await expect.poll(() => phaseOf("shop-web")).toBe("paused");
    await raiseBudget(core, "shop", { scope: "tree", tokens: 500 });
    expect(await phaseOf("shop-web")).toBe("running");
    expect(await ask("shop-web", 90)).toBe("answered");
  });
});

describe("usage", () => {
  it("is summed up and by one property, with the date of the prices", async () => {
    await startWith("one", []);
    await startWith("two", []);
    await ask("one", 10);
    await ask("two", 20);
    await ask("two", 30);
    const usage = await readUsage(core, { by: "box" });
    expect(usage).toMatchObject({
      totals: { requests: 3, usage: { input: 60 }, costMicroUsd: 60 },
      groups: [
        { key: "two", totals: { requests: 2 } },
        { key: "one", totals: { requests: 1 } },
      ],
      pricesOf: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    });
    expect(await readUsage(core, { by: "day", box: "one" })).toMatchObject({
      groups: [{ totals: { requests: 1 } }],
    });
  });
});
