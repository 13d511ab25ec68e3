import type { AgentRun, AgentState } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import type { Core } from "../context.ts";

/** One event for each change, with the record. */
export function noteState(core: Core, { name, incarnation }: Box, state: AgentState): Promise<void> {
  return changeRun(core, { name, incarnation }, (run) => {
    if (run.state === state || run.state === "done") return undefined;
    return {
      run: { ...run, state, stateSinceMs: core.ports.clock.nowMs() },
      event: { type: "agent.state_changed", data: { from: run.state, to: state } },
    };
  });
}

interface RunChange {
  readonly run: AgentRun;
  readonly event?: { readonly type: Parameters<Core["event"]>[0]; readonly data: Record<string, unknown> };
}

/** Changes what is kept about a run, when it is the box's turn. */
export function changeRun(
  core: Core,
  { name, incarnation }: Pick<Box, "name" | "incarnation">,
  change: (run: AgentRun) => RunChange | undefined,
): Promise<void> {
  return core.locked(name, async () => {
    const box = await core.ports.store.findBox(name);
    const changed = box?.incarnation === incarnation && box.run ? change(box.run) : undefined;
    if (!box || !changed) return;
    const update = { ...box, run: changed.run };
    const { event } = changed;
    await core.commit({ update, events: event ? [core.event(event.type, update, event.data)] : [] });
  });
}
