import type { AgentState } from "../../contract/agent-events.ts";
import type { AgentFacts } from "./agent-facts.ts";

/** Silence that is no longer work. A model may think for minutes; a build in a tool may take longer. */
export const stuckAfterMs = { answer: 6 * 60_000, tool: 30 * 60_000, silence: 3 * 60_000 } as const;
/** Requests that failed in a row until the agent is no longer getting anywhere. */
const failuresUntilStuck = 5;

/** The state of an agent: from its traffic, its own reports and its process, never from its screen. */
export function decideState(facts: AgentFacts, nowMs: number): AgentState {
  const silentMs = nowMs - facts.activeMs;
  if (facts.isAsking) return "waiting";
  if (facts.failures >= failuresUntilStuck) return "stuck";
  if (facts.inFlight > 0) return silentMs > stuckAfterMs.answer ? "stuck" : "working";
  if (facts.openTools.size > 0) return silentMs > stuckAfterMs.tool ? "stuck" : "working";
  if (facts.mode === "interactive") return decideAttended(facts, silentMs);
  return silentMs > stuckAfterMs.silence ? "stuck" : "working";
}

/** Only an agent with a person at its terminal can be waiting; one on its own has no one to wait for. */
function decideAttended(facts: AgentFacts, silentMs: number): AgentState {
  const hasStopped = facts.lastStop === "end" || facts.lastStop === "length";
  if (facts.turnDone !== undefined || (hasStopped && !facts.hasReported) || facts.failures > 0)
    return "waiting";
  if (facts.answers === 0) return "idle";
  return silentMs > stuckAfterMs.tool ? "stuck" : "working";
}

const giveUpAfter = { failures: 8, failingMs: 3 * 60_000 } as const;

/** Agents that never give up by themselves are ended: no person is there to see them fail. */
export function isHopeless(facts: AgentFacts, nowMs: number): boolean {
  if (facts.mode === "interactive" || facts.failingSinceMs === undefined || facts.wasOutOfBudget)
    return false;
  return facts.failures >= giveUpAfter.failures || nowMs - facts.failingSinceMs > giveUpAfter.failingMs;
}
