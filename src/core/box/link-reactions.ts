/** Reactions of the daemon to messages of a box's link. They come from the box, so nothing in them is trusted. */
import { printable } from "../../base/printable.ts";
import type { Box } from "../../contract/box.ts";
import { isFullMemory } from "../../contract/box-paths.ts";
import type { SessionStatus } from "../../contract/link/messages.ts";
import type { LinkReactions } from "../context.ts";
import type { StartParts, Using } from "../using.ts";
import { finishMain } from "./finish-main.ts";
import { isSource, recordOutput } from "../exec/record-output.ts";

export function linkReactions(core: Using<StartParts>): LinkReactions {
  /** Directories in memory that were full when they were last looked at: each is told once. */
  const full = new WeakMap<object, ReadonlySet<string>>();
  /** A callback of an earlier box of the same name says nothing about this one. */
  const isCurrent = (box: Box): boolean => core.live.get(box.name)?.incarnation === box.incarnation;

  const sessionEnded = (box: Box, session: SessionStatus): void => {
    if (!isCurrent(box)) return;
    const { id, exitCode, signal } = session;
    const live = core.live.get(box.name);
    if (!live || !isSource(live, id)) return;
    if (id !== "main") {
      core.noteFromBox("session.ended", box, { session: printable(id), exitCode, signal });
    } else if (box.main ?? box.run) core.background("finishing a box", finishMain(core, box, session));
  };

  return {
    sessionEnded,

    health(box, health) {
      const live = core.live.get(box.name);
      if (!live || !isCurrent(box)) return;
      live.healthAtMs = core.ports.clock.monotonicMs();
      for (const session of health.sessions) {
        if (!isSource(live, session.id)) continue;
        if (session.state === "running") {
          recordOutput(core, box, session.id);
          if (session.id === "main" && box.run && core.ports.agents[box.spec.agent.name]?.readHooks)
            recordOutput(core, box, "hooks");
        }
        // The agent may have ended while no daemon was there to be told; what it said last is still there to be read.
        else if (session.id === "main") {
          recordOutput(core, box, "main");
          sessionEnded(box, session);
        }
      }
      for (const service of health.services) {
        const isKnown = box.spec.services.some(({ name }) => name === service.name);
        if (isKnown && service.outputBytes > 0) recordOutput(core, box, `service:${service.name}`);
      }
      const before = full.get(live);
      const now = health.memory.filter(isFullMemory);
      full.set(live, new Set(now.map(({ path }) => path)));
      for (const { path, sizeBytes } of now)
        if (!before?.has(path)) core.noteFromBox("memory.full", box, { path, sizeBytes });
    },

    lost(box) {
      if (isCurrent(box)) core.noteFromBox("link.lost", box);
    },

    serviceChanged(box, service) {
      if (!box.spec.services.some(({ name }) => name === service.name)) return;
      const { name, state, restarts, exitCode } = service;
      const data = { service: name, state, restarts, exitCode, message: printable(service.message) };
      core.noteFromBox("service.changed", box, data);
    },
  };
}
