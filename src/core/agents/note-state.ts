import type { EventType } from "../../contract/events.ts";
import type { AgentRun, AgentState } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import type { RecordParts, Using } from "../using.ts";

/** One event for each change, with the record. */
export function noteState(
  core: Using<RecordParts | "admitsFromBox" | "locked">,
  { name, incarnation }: Box,
  state: AgentState,
): Promise<void> {
  return changeRun(core, { name, incarnation }, (run, phase) => {
    // News after the end is late; but a box that was started again has an agent again, and no verdict yet.
    if (run.state === state || (run.state === "done" && phase !== "running")) return undefined;
    const { verdict: _verdict, why: _why, ...rest } = run;
    return {
      run: { ...rest, state, stateSinceMs: core.ports.clock.nowMs() },
      event: { type: "agent.state_changed", data: { from: run.state, to: state } },
    };
  });
}

/** The newest counts: a resumed conversation may get another id, and that one leads to all of it. */
export const noteConversation = (
  core: Using<"admitsFromBox" | "commit" | "event" | "locked" | "store">,
  { name, incarnation }: Box,
  conversation: string,
): Promise<void> =>
  changeRun(core, { name, incarnation }, (run) =>
    run.conversation === conversation ? undefined : { run: { ...run, conversation } },
  );

interface RunChange {
  readonly run: AgentRun;
  readonly event?: { readonly type: EventType; readonly data: Record<string, unknown> };
}

/** Changes what is kept about a run, when it is the box's turn. */
function changeRun(
  core: Using<"admitsFromBox" | "commit" | "event" | "locked" | "store">,
  { name, incarnation }: Pick<Box, "name" | "incarnation">,
  change: (run: AgentRun, phase: Box["state"]["phase"]) => RunChange | undefined,
): Promise<void> {
  return core.locked(name, async () => {
    const box = await core.ports.store.findBox(name);
    const changed =
      box?.incarnation === incarnation && box.run ? change(box.run, box.state.phase) : undefined;
    if (!box || !changed) return;
    const update = { ...box, run: changed.run };
    const events = changed.event ? [core.event(changed.event.type, update, changed.event.data)] : [];
    await core.commit({ update, events: events.filter((event) => core.admitsFromBox(event)) });
  });
}
