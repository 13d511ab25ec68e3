/** The facts about an agent at work; state and verdict are decided from these alone. */
import type { AgentEvent } from "../../contract/agent-events.ts";
import type { ModelOutcome } from "../../ports/model-gateway.ts";

/** Why AgentBox itself ended a run. */
export type EndedBy = "timeout" | "interrupt" | "give_up";

export interface AgentFacts {
  readonly mode: "interactive" | "headless";
  /** All times are on the monotonic clock. */
  readonly startedMs: number;
  /** The last sign of life from the model or the agent's own reports. */
  activeMs: number;
  inFlight: number;
  answers: number;
  /** Failed requests since the last answer, and when the first of them failed. */
  failures: number;
  failingSinceMs: number | undefined;
  lastFailure: string | undefined;
  lastStop: ModelOutcome["stop"];
  /** Tools that have been called and have not answered. */
  readonly openTools: Set<string>;
  /** The agent's own word that it is done, since it was last asked. */
  turnDone: { readonly isError: boolean; readonly text?: string | undefined } | undefined;
  isAsking: boolean;
  /** It tells what it does; then its word counts, and what the model said last does not. */
  hasReported: boolean;
  conversation: string | undefined;
  wasOutOfBudget: boolean;
  endedBy: EndedBy | undefined;
}

export const newFacts = (mode: AgentFacts["mode"], nowMs: number): AgentFacts => ({
  mode,
  startedMs: nowMs,
  activeMs: nowMs,
  inFlight: 0,
  answers: 0,
  failures: 0,
  failingSinceMs: undefined,
  lastFailure: undefined,
  lastStop: undefined,
  openTools: new Set(),
  turnDone: undefined,
  isAsking: false,
  hasReported: false,
  conversation: undefined,
  wasOutOfBudget: false,
  endedBy: undefined,
});

/** The model has been asked again, so the agent no longer waits. */
export function requestStarted(facts: AgentFacts, nowMs: number): void {
  facts.inFlight += 1;
  facts.activeMs = nowMs;
  facts.isAsking = false;
  facts.turnDone = undefined;
}

export function requestEnded(facts: AgentFacts, outcome: ModelOutcome, nowMs: number): void {
  facts.inFlight = Math.max(0, facts.inFlight - 1);
  facts.activeMs = nowMs;
  const isAnswer = outcome.status >= 200 && outcome.status < 300 && outcome.error === undefined;
  if (!isAnswer) {
    const why = outcome.error ?? `status ${outcome.status}`;
    // A key that is refused is not accepted at the next try.
    const isRefused = outcome.status === 401 || outcome.status === 403;
    return requestFailed(facts, why, nowMs, isRefused ? 3 : 1);
  }
  facts.answers += 1;
  facts.failures = 0;
  facts.failingSinceMs = undefined;
  facts.wasOutOfBudget = false;
  // Side requests, such as one for a title, say "end" while the main one wants a tool: only for agents that tell nothing.
  facts.lastStop = outcome.stop;
}

/** `weight`: how many failures in a row it counts for. */
export function requestFailed(facts: AgentFacts, why: string, nowMs: number, weight = 1): void {
  facts.activeMs = nowMs;
  facts.failures += weight;
  facts.failingSinceMs ??= nowMs;
  facts.lastFailure = why;
}

/** Enough for any honest agent; the rest is not remembered. */
const maxOpenTools = 256;

export function applyAgentEvent(facts: AgentFacts, event: AgentEvent, nowMs: number): void {
  facts.activeMs = nowMs;
  facts.hasReported = true;
  switch (event.kind) {
    case "session_started":
      facts.conversation = event.conversation;
      break;
    case "tool_called":
      if (facts.openTools.size < maxOpenTools) facts.openTools.add(event.id);
      facts.isAsking = false;
      break;
    case "tool_answered":
      facts.openTools.delete(event.id);
      facts.isAsking = false;
      break;
    case "approval_asked":
      facts.isAsking = true;
      break;
    case "message":
      if (event.role === "person") facts.turnDone = undefined;
      break;
    case "turn_done":
      facts.turnDone = { isError: event.isError, text: event.text };
      facts.openTools.clear();
      facts.isAsking = false;
      break;
    case "error":
    case "file_changed":
    case "thinking":
    case "usage":
  }
}
