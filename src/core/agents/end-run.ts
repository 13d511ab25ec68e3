import { omitUndefined } from "../../base/omit-undefined.ts";
import type { AgentRun } from "../../contract/agent-events.ts";
import type { Box, StopReason } from "../../contract/box.ts";
import type { NewEvent } from "../../contract/events.ts";
import type { SessionStatus } from "../../contract/link/messages.ts";
import type { Using } from "../using.ts";
import { type AgentFacts, newFacts } from "./agent-facts.ts";
import { type Judgement, decideVerdict } from "./decide-verdict.ts";
import { getAgent } from "./get-agent.ts";

/** The agent's session has ended: what that means, as a changed record and its events. */
export function endRun(
  core: Using<"agentProblems" | "agentWatch" | "agents" | "clock" | "event">,
  box: Box,
  session: Pick<SessionStatus, "exitCode" | "signal">,
): { box: Box; events: NewEvent[] } {
  const { run } = box;
  if (!run) return { box, events: [] };
  const facts = core.agentWatch.end(box.name) ?? newFacts(run.mode, core.ports.clock.monotonicMs());
  const entry = getAgent(core, box.spec.agent.name);
  const judgement = decideVerdict(facts, {
    exitCode: session.exitCode ?? undefined,
    signal: session.signal,
    hasModel: entry.api !== undefined,
  });
  return conclude(core, box, run, { ...judgement, facts, exitCode: session.exitCode });
}

/**
 * The box ends with its agent still at its task: stopped, out of time, dead. The callers that wait for the task are
 * told, and do not wait for ever. At a terminal there is no task, and the conversation is only interrupted.
 */
export function stopRun(
  core: Using<"agentWatch" | "clock" | "event">,
  box: Box,
  reason: StopReason,
): { box: Box; events: NewEvent[] } {
  const { run } = box;
  if (!run || run.mode === "interactive" || run.state === "done") return { box, events: [] };
  const facts = core.agentWatch.end(box.name);
  const judgement = facts?.wasOutOfBudget ? outOfBudget : (byStop[reason] ?? died);
  return conclude(core, box, run, { ...judgement, facts });
}

const outOfBudget: Judgement = {
  verdict: "out_of_budget",
  why: "A budget was too small for the next request, and its box was stopped.",
};
const died: Judgement = { verdict: "failed", why: "Its box ended before it was done." };
const byStop: Partial<Record<StopReason, Judgement>> = {
  requested: { verdict: "interrupted", why: "Its box was stopped." },
  ttl: { verdict: "timed_out", why: "The time of its box was over." },
  idle: { verdict: "timed_out", why: "Its box was idle for too long." },
};

interface RunEnd extends Judgement {
  readonly facts: AgentFacts | undefined;
  readonly exitCode?: number | null | undefined;
}

function conclude(
  core: Using<"clock" | "event">,
  box: Box,
  run: AgentRun,
  { verdict, why, facts, exitCode }: RunEnd,
): { box: Box; events: NewEvent[] } {
  const ended: Box = {
    ...box,
    run: {
      ...run,
      ...omitUndefined({ conversation: facts?.conversation }),
      state: "done",
      stateSinceMs: core.ports.clock.nowMs(),
      verdict,
      why,
    },
  };
  return {
    box: ended,
    events: [
      core.event("agent.state_changed", ended, { from: run.state, to: "done" }),
      core.event("agent.ended", ended, { verdict, why, exitCode, turn: run.turns }),
    ],
  };
}
