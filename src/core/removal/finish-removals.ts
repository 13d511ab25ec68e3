import { isAgentBoxError } from "../../base/errors.ts";
import type { RemoveParts, Using } from "../using.ts";
import { erase } from "./erase-box.ts";

const retryMs = 5_000;

/**
 * Removals that were cut off, such as by an engine that went away, are finished as soon as that is possible. Returns
 * what looks for them; a box that another request is removing is left to it, and is found gone or waited for.
 */
export function unfinishedRemovals(core: Using<RemoveParts | "locked" | "store">): () => Promise<void> {
  const { store, clock } = core.ports;
  const trying = new Set<string>();
  let nextMs = clock.monotonicMs() + retryMs;
  return async () => {
    if (clock.monotonicMs() < nextMs) return;
    nextMs = clock.monotonicMs() + retryMs;
    const left = (await store.listBoxes()).filter(
      ({ name, state }) => state.phase === "removing" && !trying.has(name),
    );
    for (const { name } of left) {
      trying.add(name);
      const again = core.locked(name, () => finish(core, name)).finally(() => trying.delete(name));
      core.background(`removing ${name}`, again);
    }
  };
}

async function finish(core: Using<RemoveParts | "store">, name: string): Promise<void> {
  const box = await core.ports.store.findBox(name);
  if (box?.state.phase !== "removing") return;
  try {
    await erase(core, box, "requested");
  } catch (error) {
    // Still away: said when the removal was cut off, and shown by the box's phase until it is over.
    if (!isAgentBoxError(error) || !error.code.startsWith("runtime.")) throw error;
  }
}
