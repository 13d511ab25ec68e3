import type { Box } from "../../contract/box.ts";
import type { SessionStatus } from "../../contract/link/messages.ts";
import type { StartParts, Using } from "../using.ts";
import { endRun } from "../agents/end-run.ts";
import { takeQuietly } from "../review/checkpoint-over-link.ts";
import { decideRestart } from "./restart-policy.ts";
import { restartLater } from "./restart-box.ts";
import { halt } from "./stop-box.ts";

/** The agent's session has ended: the box ends with it, or comes back as its restart policy says. */
export function finishMain(core: Using<StartParts>, { name }: Box, session: SessionStatus): Promise<void> {
  const live = core.live.get(name);
  return core.locked(name, async () => {
    const box = await core.ports.store.findBox(name);
    // Told twice (a notice and the next health message), or of a run that is over: there is nothing left to do.
    if (!box?.main || box.state.phase !== "running" || core.live.get(name) !== live) return;
    await lastWords(core, name);
    const exitCode = session.exitCode ?? undefined;
    const ended = core.event("session.ended", box, { session: "main", exitCode, signal: session.signal });
    // The agent's work at its end, while there is still a box to ask for it.
    if (box.run && live) await takeQuietly(core, box, live.link, "turn");
    const { box: judged, events } = endRun(core, box, session);
    const decision = decideRestart(box, box.spec.lifecycle.restart, {
      exitCode: failureOf(judged, exitCode),
      isDeath: false,
      nowMs: core.ports.clock.nowMs(),
    });
    const graceMs = box.spec.lifecycle.stopGraceMs;
    if (decision.action === "stop") {
      await core.commit({ ...(judged === box ? {} : { update: judged }), events: [ended, ...events] });
      await halt(core, judged, { reason: decision.reason, graceMs, exitCode });
      return;
    }
    // It is started again for the same task, so nothing has been decided about that yet.
    await core.commit({ events: [ended] });
    restartLater(
      core,
      await halt(core, box, { reason: "finished", graceMs, exitCode, goesOn: true }),
      decision,
    );
  });
}

/** Exit codes lie: for an agent only our own verdict says whether it failed. */
function failureOf({ run }: Box, exitCode: number | undefined): number | undefined {
  if (run?.verdict === undefined) return exitCode;
  return run.verdict === "failed" ? exitCode || 1 : 0;
}

const lastWordsMs = 5_000;

/** The end is told on another connection than the output: what the agent said last must be read before it is judged. */
async function lastWords(core: Using<"clock" | "live">, name: string): Promise<void> {
  const recording = core.live.get(name)?.recording.get("main");
  if (!recording) return;
  const late = new Promise<void>((resolve) => core.ports.clock.after(lastWordsMs, resolve));
  await Promise.race([recording.catch(() => undefined), late]);
}
