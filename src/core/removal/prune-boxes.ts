import type { Box } from "../../contract/box.ts";
import type { UnmergedWork } from "../../contract/review/removed.ts";
import type { LookParts, Using } from "../using.ts";
import { removeLocked } from "./remove-box.ts";
import { lookAtUnmerged } from "./unmerged-work.ts";

export interface PruneOptions {
  readonly olderThanMs: number;
  readonly isDryRun: boolean;
  /** Also boxes with unmerged work. */
  readonly force: boolean;
}

/** Removes boxes that have been at rest for long enough. Those with unmerged work stay, and are named. */
export async function pruneBoxes(core: Using<LookParts>, options: PruneOptions) {
  const nowMs = core.ports.clock.nowMs();
  const removed: string[] = [];
  const unmerged: ({ readonly name: string } & UnmergedWork)[] = [];
  let freedBytes = 0;
  const pruneOne = async (box: Box): Promise<void> => {
    const { unmerged: work } = await lookAtUnmerged(core, box);
    const isUnmerged = work.files > 0 || work.problem !== undefined;
    if (isUnmerged) unmerged.push({ name: box.name, ...work });
    if (isUnmerged && !options.force) return;
    const bytes = await core.ports.storage.usage(box.name);
    if (!options.isDryRun) await removeLocked(core, box, "pruned", { force: true });
    freedBytes += bytes;
    removed.push(box.name);
  };
  for (const { name } of await core.ports.store.listBoxes()) {
    await core.locked(name, async () => {
      const box = await core.ports.store.findBox(name);
      if (!box || (box.state.phase !== "stopped" && box.state.phase !== "failed")) return;
      if (nowMs - box.state.sinceMs < options.olderThanMs) return;
      await pruneOne(box);
    });
  }
  return { removed, unmerged, freedBytes };
}
