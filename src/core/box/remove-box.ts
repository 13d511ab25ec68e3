import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import { forgetShares } from "../access/keep-shares.ts";
import { moveTo } from "./box-phases.ts";
import type { RemoveParts, Using } from "../using.ts";
import { closeLink } from "../boot/start-box.ts";

/** Removes a box and everything it had on this host. */
export function removeBox(
  core: Using<RemoveParts | "getBox" | "locked">,
  name: string,
  { force }: { force: boolean },
): Promise<void> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    const isAtRest = ["stopped", "failed", "creating", "removing"].includes(box.state.phase);
    if (!isAtRest && !force) {
      throw new AgentBoxError("box.wrong_phase", `The box "${name}" is ${box.state.phase}.`, {
        hint: `Stop it first, or end it at once: agentbox rm --force ${name}`,
        facts: { box: name, phase: box.state.phase },
      });
    }
    await erase(core, box, "requested");
  });
}

/** The caller holds the lock. Can be repeated: a crash half-way is finished at the next start. */
export async function erase(core: Using<RemoveParts>, box: Box, reason: string): Promise<void> {
  if (box.state.phase !== "removing") {
    const removing = moveTo(box, { phase: "removing", sinceMs: core.ports.clock.nowMs() });
    await core.commit({ update: removing, events: [core.event("box.removing", removing, { reason })] });
  }
  await closeLink(core, box.name);
  const runtime = await core.ports.runtimes.get(box.spec.runtime);
  await runtime.remove(box.name);
  core.ports.logs.forget(box.name);
  await core.ports.storage.remove(box.name);
  await core.commit({ remove: { name: box.name }, events: [core.event("box.removed", box, { reason })] });
  core.eventBytes.forget(box);
  core.background("ending the shares of a box", forgetShares(core, box));
}
