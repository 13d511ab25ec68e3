import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import { requireOwner } from "./allocate-owner.ts";
import { requirePhase } from "./box-phases.ts";
import type { StartParts, Using } from "../using.ts";
import { requireEnforceable } from "../plan/sound-plan.ts";
import { boot } from "../boot/start-box.ts";
import { halt } from "./stop-box.ts";

/**
 * Makes a box of something else: its files, name, user, policy, grants and history stay. Everything that could be
 * refused is looked at before anything changes. A box that ran goes on where it was; one that rested, rests.
 */
export function moveBox(
  core: Using<StartParts | "access" | "getBox">,
  name: string,
  { runtime: to }: { runtime: string },
): Promise<Box> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    const { runtime: from } = box.spec;
    requirePhase(box, "running", "paused", "stopped", "failed");
    if (from === to) {
      throw new AgentBoxError("input.invalid", `The box "${name}" is on the runtime "${to}" already.`, {
        hint: "See which there are: agentbox doctor",
        facts: { box: name, runtime: to },
      });
    }
    const spec = { ...box.spec, runtime: to };
    const isolation = await requireEnforceable(core, spec);
    requireOwner(box, await core.ports.runtimes.get(to));

    const wasUp = box.state.phase === "running" || box.state.phase === "paused";
    const { stopGraceMs: graceMs } = box.spec.lifecycle;
    const rested = wasUp ? await halt(core, box, { reason: "requested", graceMs, goesOn: true }) : box;
    // SECURITY: the runtime before must have nothing left of it, or two boxes would work on the same files.
    await (await core.ports.runtimes.get(from)).remove(name);
    const moved: Box = { ...rested, spec, isolation };
    await core.commit({ update: moved, events: [core.event("box.moved", moved, { from, to })] });
    return wasUp ? boot(core, moved) : moved;
  });
}
