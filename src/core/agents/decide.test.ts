import { describe, expect, it } from "vitest";
import type { ModelOutcome } from "../../ports/model-gateway.ts";
import { type AgentFacts, applyAgentEvent, newFacts, requestEnded, requestStarted } from "./agent-facts.ts";
import { decideState, isHopeless, stuckAfterMs } from "./decide-state.ts";
import { decideVerdict } from "./decide-verdict.ts";

const answer = (more: Partial<ModelOutcome> = {}): ModelOutcome => ({
  status: 200,
  hasAnswer: true,
  durationMs: 10,
  stop: "end",
  ...more,
});

const facts = (mode: AgentFacts["mode"], ...steps: ((facts: AgentFacts) => void)[]): AgentFacts => {
  const made = newFacts(mode, 0);
  for (const step of steps) step(made);
  return made;
};
const asks = (it: AgentFacts) => requestStarted(it, 0);
const gets = (outcome: ModelOutcome) => (it: AgentFacts) => requestEnded(it, outcome, 0);
const says = (event: Parameters<typeof applyAgentEvent>[1]) => (it: AgentFacts) =>
  applyAgentEvent(it, event, 0);
const turnDone = says({ kind: "turn_done", isError: false });
const failure = answer({ status: 500, error: "api_error", hasAnswer: false });

describe("decideState", () => {
  it.each<[string, AgentFacts, string]>([
    ["an agent without a task", facts("interactive"), "idle"],
    ["a request under way", facts("interactive", asks), "working"],
    ["an answer that says all", facts("interactive", asks, gets(answer())), "waiting"],
    ["an answer that wants a tool", facts("interactive", asks, gets(answer({ stop: "tool" }))), "working"],
    [
      "a side request, of an agent that says itself when it is done",
      facts("interactive", says({ kind: "message", role: "person", text: "go" }), asks, gets(answer())),
      "working",
    ],
    [
      "a tool at work",
      facts("interactive", says({ kind: "tool_called", id: "1", tool: "Bash", summary: "" })),
      "working",
    ],
    [
      "a question to the person",
      facts("interactive", asks, says({ kind: "approval_asked", what: "rm" })),
      "waiting",
    ],
    ["a failed request at a terminal", facts("interactive", asks, gets(failure)), "waiting"],
    ["a task that has begun", facts("headless"), "working"],
    ["a task between two requests", facts("headless", asks, gets(answer({ stop: "tool" }))), "working"],
  ])("%s", (_what, made, state) => expect(decideState(made, 1_000)).toBe(state));

  it("calls silence stuck only when something should have happened", () => {
    const long = stuckAfterMs.tool + 1;
    expect(decideState(facts("interactive", asks), long)).toBe("stuck");
    expect(decideState(facts("headless"), long)).toBe("stuck");
    expect(decideState(facts("interactive", asks, gets(answer()), turnDone), long)).toBe("waiting");
    expect(decideState(facts("interactive"), long)).toBe("idle");
  });

  it("is stuck after failures in a row, until an answer comes", () => {
    const failing = facts("headless", ...Array.from({ length: 5 }, () => [asks, gets(failure)]).flat());
    expect(decideState(failing, 0)).toBe("stuck");
    asks(failing);
    gets(answer({ stop: "tool" }))(failing);
    expect(decideState(failing, 0)).toBe("working");
  });
});

it("gives up only where nobody watches and nothing has come back", () => {
  const failing = facts("headless", ...Array.from({ length: 8 }, () => [asks, gets(failure)]).flat());
  expect(isHopeless(failing, 0)).toBe(true);
  expect(isHopeless({ ...failing, mode: "interactive" }, 0)).toBe(false);
  expect(isHopeless({ ...failing, wasOutOfBudget: true }, 0)).toBe(false);
  expect(isHopeless(facts("headless", asks, gets(failure)), 1_000)).toBe(false);
  expect(isHopeless(facts("headless", asks, gets(failure)), 10 * 60_000)).toBe(true);
});

describe("decideVerdict", () => {
  const ended = { exitCode: 0, signal: null, hasModel: true };
  const verdictOf = (made: AgentFacts, end: Partial<typeof ended> = {}) =>
    decideVerdict(made, { ...ended, ...end }).verdict;

  it.each<[string, string, () => string]>([
    ["says it is done", "done", () => verdictOf(facts("headless", asks, gets(answer()), turnDone))],
    [
      "says nothing, and the model had said all",
      "done",
      () => verdictOf(facts("headless", asks, gets(answer()))),
    ],
    [
      "is done after a failure it got over",
      "done",
      () => verdictOf(facts("headless", asks, gets(failure), asks, gets(answer()), turnDone)),
    ],
    [
      "exits 0 although the model never answered",
      "gave_up",
      () => verdictOf(facts("headless", asks, gets(failure))),
    ],
    ["exits 0 without having asked", "failed", () => verdictOf(facts("headless"))],
    [
      "exits 0 in the middle of a tool",
      "failed",
      () => verdictOf(facts("headless", asks, gets(answer({ stop: "tool" })))),
    ],
    ["exits 3", "failed", () => verdictOf(facts("headless", asks, gets(answer())), { exitCode: 3 })],
    [
      "says it failed",
      "failed",
      () => verdictOf(facts("headless", asks, gets(answer()), says({ kind: "turn_done", isError: true }))),
    ],
    [
      "ran out of budget",
      "out_of_budget",
      () => verdictOf({ ...facts("headless", asks), wasOutOfBudget: true }, { exitCode: 1 }),
    ],
    ["was too late", "timed_out", () => verdictOf({ ...facts("headless"), endedBy: "timeout" })],
    ["was interrupted", "interrupted", () => verdictOf({ ...facts("headless"), endedBy: "interrupt" })],
  ])("an agent that %s: %s", (_what, verdict, decide) => expect(decide()).toBe(verdict));
});
