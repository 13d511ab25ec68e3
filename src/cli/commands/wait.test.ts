import { expect, it } from "vitest";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import { findCommand } from "../table/index.ts";
import { decideReached, waitTargets } from "./wait.ts";

const box = (more: Partial<BoxSummary>): BoxSummary => ({
  name: "shop",
  phase: "running",
  agent: "claude",
  runtime: "bubblewrap",
  createdAtMs: 0,
  sinceMs: 0,
  restarts: 0,
  needs: [],
  ...more,
});
const budget = [{ kind: "budget" as const, sentence: "Its budget is used up.", sinceMs: 0 }];

it("waits for what the table offers", () => {
  expect(findCommand("wait")?.flags["for"]?.choices).toEqual([...waitTargets]);
});

it.each([
  ["done", box({ agentState: "working" }), undefined],
  ["done", box({ agentState: "waiting" }), undefined],
  ["done", box({ agentState: "done" }), ["done", 0]],
  ["done", box({ phase: "stopped", verdict: "done" }), ["done", 0]],
  ["done", box({ phase: "stopped", verdict: "gave_up" }), ["gave up", 7]],
  ["done", box({ phase: "stopped", verdict: "timed_out" }), ["timed out", 124]],
  ["done", box({ phase: "paused", needs: budget }), ["out of budget", 8]],
  ["done", box({ phase: "paused" }), undefined],
  ["done", box({ phase: "stopped", reason: "created" }), undefined],
  ["done", box({ phase: "stopped", reason: "finished", exitCode: 3 }), ["stopped", 3]],
  ["done", box({ phase: "failed" }), ["failed", 1]],
  ["idle", box({ agentState: "idle" }), ["idle", 0]],
  ["idle", box({ agentState: "waiting" }), ["waiting", 0]],
  ["idle", box({ agentState: "working" }), undefined],
  ["idle", box({ phase: "stopped", verdict: "failed" }), ["failed", 1]],
  ["needs-you", box({ agentState: "working" }), undefined],
  ["needs-you", box({ phase: "paused", needs: budget }), ["needs you", 0]],
  ["needs-you", box({ phase: "stopped", verdict: "interrupted" }), ["interrupted", 130]],
  ["stopped", box({ verdict: "done" }), undefined],
  ["stopped", box({ phase: "stopped", reason: "created" }), ["stopped", 0]],
  ["stopped", box({ phase: "stopped", verdict: "failed" }), ["failed", 1]],
] as const)("--for %s: %j", (target, summary, wanted) => {
  const [outcome, exitCode] = wanted ?? [];
  expect(decideReached(summary, target)).toEqual(wanted && { outcome, exitCode });
});
