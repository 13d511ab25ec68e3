import type { Box } from "../../contract/box.ts";
import { moveTo, requirePhase } from "./box-phases.ts";
import type { PauseParts, Using } from "../using.ts";
import { announcePorts } from "../network/apply-policy.ts";

/** Freezes every process of a box. */
export function pauseBox(
  core: Using<"agentWatch" | "clock" | "commit" | "event" | "getBox" | "live" | "locked" | "runtimes">,
  name: string,
): Promise<Box> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    if (box.state.phase === "paused") return box;
    requirePhase(box, "running");
    const runtime = await core.ports.runtimes.get(box.spec.runtime);
    const link = core.live.get(name)?.link;
    link?.setPaused(true);
    await runtime.pause(name);
    core.agentWatch.frozen(name);
    const paused = moveTo(box, { phase: "paused", sinceMs: core.ports.clock.nowMs() });
    await core.commit({ update: paused, events: [core.event("box.paused", paused)] });
    return paused;
  });
}

export function resumeBox(core: Using<PauseParts>, name: string): Promise<Box> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    if (box.state.phase === "running") return box;
    requirePhase(box, "paused");
    const runtime = await core.ports.runtimes.get(box.spec.runtime);
    await runtime.resume(name);
    core.live.get(name)?.link.setPaused(false);
    const running = moveTo(box, { phase: "running", sinceMs: core.ports.clock.nowMs() });
    await core.commit({ update: running, events: [core.event("box.resumed", running)] });
    core.agentWatch.thawed(running);
    core.background("telling a resumed box its ports", announcePorts(core, running));
    return running;
  });
}
