import { describe, expect, it } from "vitest";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import { needsOf } from "../../contract/needs.ts";
import type { Approval } from "../../contract/network/egress.ts";
import { decideNeeds } from "./decide-needs.ts";

type Summary = Omit<BoxSummary, "needs">;
const box = (name: string, more: Partial<Summary> = {}): Summary => ({
  name,
  phase: "running",
  agent: "claude",
  runtime: "bubblewrap",
  createdAtMs: 0,
  sinceMs: 0,
  restarts: 0,
  ...more,
});
const approval = (id: number, name: string, askedAtMs: number): Approval => ({
  id,
  askedAtMs,
  expiresAtMs: askedAtMs + 60_000,
  box: name,
  host: "a.test",
  port: 443,
  sentence: `Let the box ${name} reach a.test on port 443.`,
  digest: `sha256:${id}`,
});
const dayMs = 86_400_000;
const decide = (one: Summary, more: Partial<Parameters<typeof decideNeeds>[1]> = {}) =>
  decideNeeds(one, { approvals: [], budget: undefined, nowMs: 1_000, ...more });

describe("what a box needs a person for", () => {
  it.each([
    ["answer", { agentState: "waiting" }],
    ["stuck", { agentState: "stuck" }],
    ["budget", { phase: "stopped", verdict: "out_of_budget" }],
    ["failed", { phase: "failed" }],
    ["failed", { phase: "stopped", verdict: "gave_up" }],
    ["review", { phase: "stopped", verdict: "done", changedFiles: 2 }],
    ["review", { agentState: "done", changedFiles: 1 }],
    ["review", { phase: "stopped", reason: "finished", changedFiles: 1 }],
  ] as const)("is %s with %j", (kind, more) => {
    expect(decide(box("one", { ...more, sinceMs: 7 }))).toEqual([
      { kind, sentence: expect.stringMatching(/\.$/), sinceMs: 7 },
    ]);
  });

  it.each([
    ["works", { agentState: "working" }],
    ["only runs commands", {}],
    ["is done without a change", { phase: "stopped", verdict: "done", changedFiles: 0 }],
    ["was interrupted by a person", { phase: "stopped", verdict: "interrupted" }],
    ["waits, but is paused", { phase: "paused", agentState: "waiting" }],
  ] as const)("is nothing where it %s", (_, more) => expect(decide(box("one", more))).toEqual([]));

  it("is the budget of one that is paused only when that is the reason", () => {
    const paused = box("one", { phase: "paused" });
    expect(decide(paused, { budget: "It is too small." })).toMatchObject([
      { kind: "budget", sentence: "It is too small. It is paused until you raise it." },
    ]);
    expect(decide(paused)).toEqual([]);
  });

  it("is a failure for a day only", () => {
    const failed = box("one", { phase: "failed" });
    expect(decide(failed, { nowMs: dayMs - 1 })).toHaveLength(1);
    expect(decide(failed, { nowMs: dayMs })).toEqual([]);
  });

  it("is each of its own questions, beside its state", () => {
    const approvals = [approval(1, "one", 5), approval(2, "other", 6), approval(3, "one", 7)];
    const needs = decide(box("one", { agentState: "waiting" }), { approvals });
    expect(needs.map(({ kind, approval: id, sinceMs }) => [kind, id, sinceMs])).toEqual([
      ["question", 1, 5],
      ["question", 3, 7],
      ["answer", undefined, 0],
    ]);
    expect(needs[0]?.sentence).toBe("Let the box one reach a.test on port 443.");
  });
});

it("shows the most urgent need first, then the one that has waited longest", () => {
  const boxes = [
    box("to-review", { phase: "stopped", verdict: "done", changedFiles: 2 }),
    box("asks-later", { agentState: "waiting", sinceMs: 5 }),
    box("asks", { agentState: "waiting", sinceMs: 3 }),
    box("broke", { phase: "failed" }),
    box("poor", { phase: "stopped", verdict: "out_of_budget" }),
    box("stuck", { agentState: "stuck" }),
  ].map((one) => ({ ...one, needs: decide(one, { approvals: [approval(1, "stuck", 900)] }) }));
  expect(needsOf(boxes).map(({ box: { name }, kind }) => [name, kind])).toEqual([
    ["stuck", "question"],
    ["asks", "answer"],
    ["asks-later", "answer"],
    ["poor", "budget"],
    ["stuck", "stuck"],
    ["broke", "failed"],
    ["to-review", "review"],
  ]);
});
