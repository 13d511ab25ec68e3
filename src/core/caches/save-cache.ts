import { AgentBoxError } from "../../base/errors.ts";
import type { ProjectCache } from "../../contract/cache.ts";
import type { Using } from "../using.ts";

/** Keeps a box's package caches for the next boxes of its project that ask for them. */
export function saveCache(
  core: Using<"caches" | "getBox" | "locked" | "note" | "storage">,
  name: string,
): Promise<ProjectCache> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    if (box.state.phase !== "stopped" && box.state.phase !== "failed") {
      // SECURITY: a box that runs could change its home while the host reads it.
      throw new AgentBoxError("box.wrong_phase", `The box "${name}" is ${box.state.phase}.`, {
        hint: `Stop it first: agentbox stop ${name}`,
        facts: { box: name, phase: box.state.phase },
      });
    }
    const { projectDir } = box;
    if (projectDir === undefined) {
      throw new AgentBoxError("input.invalid", `The box "${name}" belongs to no project on this host.`, {
        hint: "Only boxes that were made in a directory have a project that can keep caches.",
      });
    }
    const { storage, caches } = core.ports;
    await storage.ensure(name, { diskBytes: box.spec.resources.diskBytes });
    const { home } = storage.dirs(name);
    const cache = await caches.save({ projectDir, box: name, home, owner: box.owner });
    await core.note("cache.saved", box, { projectDir, bytes: cache.bytes, paths: cache.paths });
    return cache;
  });
}
