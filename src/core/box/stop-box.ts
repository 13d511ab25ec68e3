import { messageOf } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box, StopReason } from "../../contract/box.ts";
import { stopRun } from "../agents/end-run.ts";
import { moveTo, requirePhase } from "./box-phases.ts";
import { takeQuietly } from "../review/checkpoint-over-link.ts";
import type { HaltParts, RecordParts, Using } from "../using.ts";
import { closeLink } from "../boot/start-box.ts";

export interface StopOptions {
  readonly reason: StopReason;
  readonly graceMs: number;
  readonly exitCode?: number | undefined;
  /** It is started again at once, and its agent goes on with its task. */
  readonly goesOn?: boolean | undefined;
}

/** Asks the box to end, waits for its grace, then makes it end. A stopped box stays as it is. */
export function stopBox(
  core: Using<HaltParts | KeepParts | "getBox">,
  name: string,
  options: { graceMs?: number | undefined; reason?: StopReason } = {},
): Promise<Box> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    if (box.state.phase === "stopped" || box.state.phase === "failed") return box;
    requirePhase(box, "running", "paused", "starting", "stopping");
    await keepWork(core, box);
    return halt(core, box, {
      reason: options.reason ?? "requested",
      graceMs: options.graceMs ?? box.spec.lifecycle.stopGraceMs,
    });
  });
}

type KeepParts = RecordParts | "live" | "locked" | "noteFromBox" | "report" | "reviews" | "storage";

const keepMs = 10_000;

/**
 * The work of a box that is about to be stopped, while it can be asked: lists then say whether it is merged.
 * SECURITY: what answers is the box's own git, which may never end; stopping does not wait for it longer than this.
 */
export async function keepWork(core: Using<KeepParts>, box: Box): Promise<void> {
  const link = box.state.phase === "running" ? core.live.get(box.name)?.link : undefined;
  if (!link) return;
  let cancel: () => void = () => undefined;
  const timeOut = new Promise<void>((resolve) => {
    cancel = core.ports.clock.after(keepMs, resolve);
  });
  await Promise.race([takeQuietly(core, box, link, "turn"), timeOut]);
  cancel();
}

/** The caller holds the box's lock. */
export async function halt(
  core: Using<HaltParts>,
  box: Box,
  { reason, graceMs, exitCode, goesOn = false }: StopOptions,
): Promise<Box> {
  const { ports } = core;
  const runtime = await ports.runtimes.get(box.spec.runtime);
  const stopping =
    box.state.phase === "stopping"
      ? box
      : moveTo(box, { phase: "stopping", sinceMs: ports.clock.nowMs(), reason });
  if (stopping !== box)
    await core.commit({ update: stopping, events: [core.event("box.stopping", stopping, { reason })] });
  const { box: judged, events } = goesOn ? { box: stopping, events: [] } : stopRun(core, stopping, reason);

  // A frozen box cannot hear the question.
  if (box.state.phase === "paused") await runtime.resume(box.name);
  const askedAtMs = ports.clock.monotonicMs();
  const link = core.live.get(box.name)?.link;
  if (link?.isConnected && graceMs > 0) {
    await link.shutdown(graceMs).catch((error: unknown) => {
      ports.report({ box: box.name, error: messageOf(error) }, "the box did not answer the request to end");
    });
  }
  const leftMs = Math.max(0, graceMs - (ports.clock.monotonicMs() - askedAtMs));
  await runtime.stop(box.name, { graceMs: leftMs });
  await closeLink(core, box.name);

  const { expiresAtMs: _expired, ...rest } = judged;
  const stopped = moveTo(rest, {
    phase: "stopped",
    sinceMs: ports.clock.nowMs(),
    reason,
    ...omitUndefined({ exitCode }),
  });
  const event = core.event("box.stopped", stopped, { reason, exitCode });
  await core.commit({ update: stopped, events: [...events, event] });
  return stopped;
}
