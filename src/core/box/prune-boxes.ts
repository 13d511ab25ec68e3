import type { RemoveParts, Using } from "../using.ts";
import { erase } from "./remove-box.ts";

/** Removes boxes that have been at rest for long enough. */
export async function pruneBoxes(
  core: Using<RemoveParts | "locked" | "store">,
  options: { olderThanMs: number; isDryRun: boolean },
) {
  const nowMs = core.ports.clock.nowMs();
  const removed: string[] = [];
  let freedBytes = 0;
  for (const { name } of await core.ports.store.listBoxes()) {
    await core.locked(name, async () => {
      const box = await core.ports.store.findBox(name);
      if (!box || (box.state.phase !== "stopped" && box.state.phase !== "failed")) return;
      if (nowMs - box.state.sinceMs < options.olderThanMs) return;
      freedBytes += await core.ports.storage.usage(name);
      removed.push(name);
      if (!options.isDryRun) await erase(core, box, "pruned");
    });
  }
  return { removed, freedBytes };
}
