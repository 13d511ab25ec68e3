import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Using } from "../using.ts";

/** Forgets what a project has kept; boxes that began with it are as they were. */
export async function clearCache(core: Using<"caches" | "host" | "note">, dir: string): Promise<void> {
  // A directory that is gone by now is known by the name it had.
  const projectDir = (await core.ports.host.realPath(dir)) ?? dir;
  if (await core.ports.caches.clear(projectDir)) {
    await core.note("cache.cleared", undefined, { projectDir });
    return;
  }
  throw new AgentBoxError("file.not_found", `No package caches are kept for ${printable(projectDir)}.`, {
    hint: "See for which projects there are: agentbox cache",
  });
}
