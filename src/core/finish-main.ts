import type { Box } from "../contract/box.ts";
import type { SessionStatus } from "../contract/link/messages.ts";
import type { Core } from "./context.ts";
import { endRun } from "./agents/end-run.ts";
import { decideRestart } from "./restart-policy.ts";
import { restartLater } from "./restart-box.ts";
import { halt } from "./stop-box.ts";

/** The agent's session has ended: the box ends with it, or comes back as its restart policy says. */
export function finishMain(core: Core, { name }: Box, session: SessionStatus): Promise<void> {
  const live = core.live.get(name);
  return core.locked(name, async () => {
    const box = await core.ports.store.findBox(name);
    // Told twice (a notice and the next health message), or of a run that is over: there is nothing left to do.
    if (!box?.main || box.state.phase !== "running" || core.live.get(name) !== live) return;
    await lastWords(core, name);
    const exitCode = session.exitCode ?? undefined;
    const ended = core.event("session.ended", box, { session: "main", exitCode, signal: session.signal });
    const decision = decideRestart(box, box.spec.lifecycle.restart, {
      exitCode,
      isDeath: false,
      nowMs: core.ports.clock.nowMs(),
    });
    const { box: judged, events } = endRun(core, box, session);
    await core.commit({ ...(judged === box ? {} : { update: judged }), events: [ended, ...events] });
    if (decision.action === "stop") {
      await halt(core, judged, {
        reason: decision.reason,
        graceMs: box.spec.lifecycle.stopGraceMs,
        exitCode,
      });
      return;
    }
    const stopped = await halt(core, judged, {
      reason: "finished",
      graceMs: box.spec.lifecycle.stopGraceMs,
      exitCode,
    });
    restartLater(core, stopped, decision);
  });
}

const lastWordsMs = 5_000;

/** The end is told on another connection than the output: what the agent said last must be read before it is judged. */
async function lastWords(core: Core, name: string): Promise<void> {
  const recording = core.live.get(name)?.recording.get("main");
  if (!recording) return;
  const late = new Promise<void>((resolve) => core.ports.clock.after(lastWordsMs, resolve));
  await Promise.race([recording.catch(() => undefined), late]);
}
