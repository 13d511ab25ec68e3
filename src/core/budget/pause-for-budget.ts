import { isAgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { PauseParts, Using } from "../using.ts";
import { pauseBox } from "../box/pause-box.ts";

/** Long enough for the refusal to reach the agent, so that it can show it; too short for it to give up. */
const graceMs = 250;

/** Freezes a box whose budget is used up. Its work is not lost: it goes on when a person raises the budget. */
export function pauseForBudget(core: Using<PauseParts>, { name, incarnation }: Box): void {
  core.ports.clock.after(graceMs, () => {
    core.background(
      `pausing ${name}`,
      core.ports.store.findBox(name).then(async (box) => {
        if (box?.incarnation !== incarnation || box.state.phase !== "running") return;
        // It is being ended, and could not be while it is frozen.
        if (core.agentWatch.facts(name)?.endedBy !== undefined) return;
        await pauseBox(core, name).catch((error: unknown) => {
          // It has ended in the meantime, which stops it as well.
          if (!isAgentBoxError(error, "box.wrong_phase") && !isAgentBoxError(error, "box.not_found"))
            throw error;
        });
      }),
    );
  });
}
