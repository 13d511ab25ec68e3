import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { RemovedBox, UnmergedWork } from "../../contract/review/removed.ts";
import type { LookParts, Using } from "../using.ts";
import { erase } from "./erase-box.ts";
import { keepDays, removedInfo, removedRecord } from "./removed-boxes.ts";
import { lookAtUnmerged, requireMerged } from "./unmerged-work.ts";

export interface RemoveOptions {
  /** Also when it runs, or has work that has not been merged. */
  readonly force: boolean;
  /** Whether its work is kept for a while. */
  readonly keep?: boolean;
}

/** Removes a box and everything it had on this host. Returns what can be restored of it. */
export function removeBox(
  core: Using<LookParts>,
  name: string,
  options: RemoveOptions,
): Promise<RemovedBox | undefined> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    const isAtRest = ["stopped", "failed", "creating", "removing"].includes(box.state.phase);
    if (!isAtRest && !options.force) {
      throw new AgentBoxError("box.wrong_phase", `The box "${name}" is ${box.state.phase}.`, {
        hint: `Stop it first, or end it at once: agentbox rm --force ${name}`,
        facts: { box: name, phase: box.state.phase },
      });
    }
    return removeLocked(core, box, "requested", options);
  });
}

/** The caller holds the lock. */
export async function removeLocked(
  core: Using<LookParts>,
  box: Box,
  reason: string,
  { force, keep = true }: RemoveOptions,
): Promise<RemovedBox | undefined> {
  const days = keep ? await keepDays(core) : 0;
  const work = force && days === 0 ? undefined : await lookAtUnmerged(core, box, { mayResume: force });
  if (work && !force) requireMerged(box, work, days);
  const removed = work && removedRecord(box, work, { nowMs: core.ports.clock.nowMs(), days });
  await erase(core, box, reason, removed);
  return removed && removedInfo(removed);
}

/** The work that would be lost with a box, and for how long it would be kept. */
export const readUnmerged = (
  core: Using<LookParts>,
  name: string,
): Promise<UnmergedWork & { readonly keepDays: number }> =>
  core.locked(name, async () => {
    const { unmerged } = await lookAtUnmerged(core, await core.getBox(name));
    return { ...unmerged, keepDays: await keepDays(core) };
  });
