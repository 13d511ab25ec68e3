/** Ends boxes whose time is over: TTL by the wall clock kept in the store, idleness as boxd measures it. */
import type { Box } from "../../contract/box.ts";
import { endSession } from "../agents/talk-to-agent.ts";
import type { HaltParts, RemoveParts, Using } from "../using.ts";
import { expireRemoved } from "../removal/removed-boxes.ts";
import { unfinishedRemovals } from "../removal/finish-removals.ts";
import { takeQuietly } from "../review/checkpoint-over-link.ts";
import { halt, keepWork } from "./stop-box.ts";

const tickMs = 1_000;
/** A difference between the clocks beyond this is a jump, not drift. */
const jumpMs = 30_000;

type EndParts = HaltParts | "locked" | "note" | "noteFromBox" | "reviews" | "storage" | "store";

/** Returns the way to stop watching. */
export function watchLifetimes(
  core: Using<RemoveParts | "getBox" | "locked" | "note" | "noteFromBox" | "report" | "reviews" | "store">,
): () => void {
  const { clock } = core.ports;
  let last = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
  const ending = new Set<string>();
  const finishRemovals = unfinishedRemovals(core);
  const expire = expireRemoved(core);
  let isStopped = false;
  let cancel: () => void = () => undefined;

  const tick = async (): Promise<void> => {
    const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const jump = now.wallMs - last.wallMs - (now.monotonicMs - last.monotonicMs);
    last = now;
    if (Math.abs(jump) > jumpMs) await shiftDeadlines(core, jump);
    await endExpired(core, ending);
    await finishRemovals();
    await expire();
    for (const { box, by } of core.agentWatch.tick()) {
      core.agentWatch.endBy(box.name, by);
      core.background(`ending the agent of ${box.name}`, endSession(core, box));
    }
    for (const box of core.agentWatch.overdue()) {
      const link = core.live.get(box.name)?.link;
      if (link) core.background(`keeping the work of ${box.name}`, takeQuietly(core, box, link, "timer"));
    }
  };
  const schedule = (): void => {
    cancel = clock.after(tickMs, () => {
      core.background(
        "watching lifetimes",
        tick().finally(() => {
          if (!isStopped) schedule();
        }),
      );
    });
  };
  schedule();
  return () => {
    isStopped = true;
    cancel();
  };
}

/** When the wall clock is set, boxes keep the time they had left. */
async function shiftDeadlines(
  core: Using<"commit" | "locked" | "note" | "store">,
  jump: number,
): Promise<void> {
  await core.note("clock.jumped", undefined, { jumpMs: Math.round(jump) });
  for (const { name } of await core.ports.store.listBoxes()) {
    await core.locked(name, async () => {
      const box = await core.ports.store.findBox(name);
      if (box?.expiresAtMs === undefined) return;
      await core.commit({ update: { ...box, expiresAtMs: Math.round(box.expiresAtMs + jump) }, events: [] });
    });
  }
}

/** `ending` has the boxes that are on their way out: a box whose turn is late is not ended twice. */
async function endExpired(core: Using<EndParts | "background">, ending: Set<string>): Promise<void> {
  for (const box of await core.ports.store.listBoxes()) {
    const { name } = box;
    if (ending.has(name) || !reasonToEnd(core, box)) continue;
    ending.add(name);
    const end = core.locked(name, () => endNow(core, name)).finally(() => ending.delete(name));
    core.background(`stopping ${name}`, end);
  }
}

/** Asked again under the lock: the box may have been stopped, or started anew, while this waited for its turn. */
async function endNow(core: Using<EndParts>, name: string): Promise<void> {
  const box = await core.ports.store.findBox(name);
  const reason = box && reasonToEnd(core, box);
  if (!reason) return;
  await core.note(reason === "ttl" ? "box.expired" : "box.idled", box);
  await keepWork(core, box);
  await halt(core, box, { reason, graceMs: box.spec.lifecycle.stopGraceMs });
}

function reasonToEnd(core: Using<"clock" | "live">, box: Box): "ttl" | "idle" | undefined {
  const { clock } = core.ports;
  const { phase } = box.state;
  if (phase !== "running" && phase !== "paused") return undefined;
  if (box.expiresAtMs !== undefined && clock.nowMs() >= box.expiresAtMs) return "ttl";
  const live = core.live.get(box.name);
  const health = live?.link.lastHealth;
  if (phase === "paused" || box.spec.lifecycle.idleMs === undefined || !live || !health) return undefined;
  // boxd reports every few seconds; a report that is late is not idleness, so no time is added to it.
  return health.idleMs >= box.spec.lifecycle.idleMs ? "idle" : undefined;
}
