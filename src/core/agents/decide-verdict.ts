import type { Verdict } from "../../contract/agent-events.ts";
import type { AgentFacts } from "./agent-facts.ts";

export interface SessionEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | null;
  /** Whether the agent works with a model at all. */
  readonly hasModel: boolean;
}

export interface Judgement {
  readonly verdict: Verdict;
  /** One sentence. */
  readonly why: string;
}

/** How a run ended. An agent's exit code is one fact among others: some say 0 when everything failed. */
export function decideVerdict(facts: AgentFacts, end: SessionEnd): Judgement {
  const ordered = byOrder(facts);
  if (ordered) return ordered;
  if (facts.wasOutOfBudget)
    return { verdict: "out_of_budget", why: "A budget was too small for the next request." };
  if (facts.failures > 0 && facts.turnDone?.isError !== false) return gaveUp(facts);
  if (facts.turnDone?.isError) return failed(facts.turnDone.text ?? "The agent says it could not do it.");
  if (end.signal !== null) return failed(`The agent was ended by ${end.signal}.`);
  if (end.exitCode !== 0) return failed(`The agent ended with exit code ${end.exitCode ?? "unknown"}.`);
  if (facts.turnDone) return { verdict: "done", why: "The agent says it is done." };
  return unreported(facts, end);
}

function byOrder({ endedBy }: AgentFacts): Judgement | undefined {
  if (endedBy === "timeout") return { verdict: "timed_out", why: "It was not done in the time it had." };
  if (endedBy === "interrupt") return { verdict: "interrupted", why: "A person interrupted it." };
  return undefined;
}

/** It ended well, but said nothing that we can read: what the model said last decides. */
function unreported(facts: AgentFacts, { hasModel }: SessionEnd): Judgement {
  if (!hasModel) return { verdict: "done", why: "The agent ended." };
  if (facts.answers === 0) return failed("The agent ended without having asked the model.");
  if (facts.lastStop === "tool") return failed("The agent ended while the model waited for a tool.");
  return { verdict: "done", why: "The model had said all it had to say." };
}

const gaveUp = ({ lastFailure, endedBy }: AgentFacts): Judgement => ({
  verdict: "gave_up",
  why: `The model could not be used (${(lastFailure ?? "unknown").slice(0, 200)})${endedBy === "give_up" ? "; AgentBox ended the agent" : ""}.`,
});

const failed = (why: string): Judgement => ({ verdict: "failed", why: why.slice(0, 500) });
