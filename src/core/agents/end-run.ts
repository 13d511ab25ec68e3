import type { Box } from "../../contract/box.ts";
import type { NewEvent } from "../../contract/events.ts";
import type { SessionStatus } from "../../contract/link/messages.ts";
import type { Core } from "../context.ts";
import { newFacts } from "./agent-facts.ts";
import { decideVerdict } from "./decide-verdict.ts";
import { getAgent } from "./get-agent.ts";

/** The agent's session has ended: what that means, as a changed record and its events. */
export function endRun(
  core: Core,
  box: Box,
  session: Pick<SessionStatus, "exitCode" | "signal">,
): { box: Box; events: NewEvent[] } {
  const { run } = box;
  if (!run) return { box, events: [] };
  const facts = core.agentWatch.end(box.name) ?? newFacts(run.mode, core.ports.clock.monotonicMs());
  const entry = getAgent(core, box.spec.agent.name);
  const { verdict, why } = decideVerdict(facts, {
    exitCode: session.exitCode ?? undefined,
    signal: session.signal,
    hasModel: entry.api !== undefined,
  });
  const ended: Box = {
    ...box,
    run: {
      ...run,
      ...(facts.conversation === undefined ? {} : { conversation: facts.conversation }),
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
      core.event("agent.ended", ended, { verdict, why, exitCode: session.exitCode, turn: run.turns }),
    ],
  };
}
