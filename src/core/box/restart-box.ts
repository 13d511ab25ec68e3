import { isAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { RuntimeStatus } from "../../ports/runtime.ts";
import { stopRun } from "../agents/end-run.ts";
import { moveTo } from "./box-phases.ts";
import type { StartParts, Using } from "../using.ts";
import { decideRestart, type RestartDecision } from "./restart-policy.ts";
import { boot, closeLink } from "../boot/start-box.ts";
import { halt } from "./stop-box.ts";

const recheckMs = 2_000;

/** Stop and start, as one step for the caller. */
export function restartBox(core: Using<StartParts | "getBox">, name: string): Promise<Box> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    const isLive = box.state.phase === "running" || box.state.phase === "paused";
    const stopped = isLive
      ? await halt(core, box, {
          reason: "requested",
          graceMs: box.spec.lifecycle.stopGraceMs,
          goesOn: true,
        })
      : box;
    const running = await boot(core, stopped);
    await core.note("box.restarted", running, { by: "request" });
    return running;
  });
}

/** The runtime says that a box has ended without being stopped. */
export function onRuntimeEnd(core: Using<StartParts>, status: RuntimeStatus): Promise<void> {
  return core.locked(status.name, async () => {
    const box = await core.ports.store.findBox(status.name);
    // While a use case holds the lock it changes the phase itself; what is left here is a death.
    if (!box || (box.state.phase !== "running" && box.state.phase !== "paused")) return;
    const runtime = await core.ports.runtimes.get(box.spec.runtime);
    const now = await runtime.find(box.name).catch((error: unknown) => {
      // A runtime that went away right after the news: a box must not be called running for that.
      core.ports.clock.after(recheckMs, () => core.background("noticing an end", onRuntimeEnd(core, status)));
      throw error;
    });
    if (now && now.phase !== "stopped") return;
    await markDead(core, box, status.exitCode);
  });
}

/** Marks a box that died as stopped, and brings it back if its policy says so. The caller holds the lock. */
export async function markDead(
  core: Using<StartParts>,
  box: Box,
  exitCode?: number,
  isHostRestart = false,
): Promise<void> {
  const nowMs = core.ports.clock.nowMs();
  const decision = decideRestart(box, box.spec.lifecycle.restart, { exitCode, isDeath: true, nowMs });
  const reason =
    decision.action === "stop" && decision.reason === "restart_limit"
      ? "restart_limit"
      : isHostRestart
        ? "host_restarted"
        : "died";
  const { box: judged, events } =
    decision.action === "stop" ? stopRun(core, box, reason) : { box, events: [] };
  await closeLink(core, box.name);
  const { expiresAtMs: _expired, ...rest } = judged;
  const stopped = moveTo(rest, {
    phase: "stopped",
    sinceMs: nowMs,
    reason,
    ...omitUndefined({ exitCode }),
  });
  const died = core.event("box.died", stopped, { reason, exitCode });
  await core.commit({ update: stopped, events: [died, ...events] });
  if (decision.action === "restart") restartLater(core, stopped, decision);
}

/** Starts the box again after its backoff, unless another request has acted on it meanwhile. */
export function restartLater(
  core: Using<StartParts>,
  stopped: Box,
  decision: Extract<RestartDecision, { action: "restart" }>,
): void {
  const again = async (): Promise<void> => {
    const box = await core.ports.store.findBox(stopped.name);
    const isSame = box?.incarnation === stopped.incarnation && box.state.phase === "stopped";
    if (!box || !isSame || box.state.sinceMs !== stopped.state.sinceMs) return;
    const running = await boot(core, box, { restarts: decision.restarts });
    await core.note("box.restarted", running, { by: "policy", restarts: decision.restarts });
  };
  core.ports.clock.after(decision.afterMs, () => {
    core.background(
      `restarting ${stopped.name}`,
      core.locked(stopped.name, again).catch((error: unknown) => {
        if (!isAgentBoxError(error, "box.not_found")) throw error;
      }),
    );
  });
}
