/**
 * Brings records and reality together when the daemon starts, whatever killed the one before: what lives is
 * adopted, what died is marked, what was half-made or half-removed is cleaned, and nothing is left over.
 */
import { messageOf } from "../../base/errors.ts";
import { Box } from "../../contract/box.ts";
import type { RuntimeStatus } from "../../ports/runtime.ts";
import { moveTo } from "./box-phases.ts";
import type { AdoptParts, StartParts, Using } from "../using.ts";
import { restoredChange } from "../removal/removed-boxes.ts";
import { erase } from "../removal/erase-box.ts";
import { markDead, onRuntimeEnd } from "./restart-box.ts";
import { adopt } from "../boot/start-box.ts";
import { halt } from "./stop-box.ts";

/** The part that runs while the daemon already serves; every box is locked until it is in order. */
const patienceMs = 3_000;

export async function reconcile(core: Using<StartParts | "access" | "host">): Promise<void> {
  const { store, runtimes, host, clock } = core.ports;
  const isHostRestart = await hostHasRestarted(core);
  await core.note("daemon.started", undefined, { bootId: host.bootId });

  runtimes.onOpen((_, runtime) =>
    runtime.onEnd((status) => core.background("noticing an end", onRuntimeEnd(core, status))),
  );
  const { seen, unseen } = await lookAround(core);
  const boxes = await completeRecords(core, await store.listBoxes());
  await sweep(core, boxes, seen);
  await finishRestores(core);
  const inView = boxes.filter(({ spec }) => !unseen.has(spec.runtime));
  waitForRuntimes(core, boxes, unseen);
  const tasks = inView.map((box) =>
    core
      .locked(box.name, () =>
        reconcileBox(core, box, seen.get(`${box.spec.runtime}/${box.name}`), isHostRestart),
      )
      // One box that cannot be brought in order must not keep the others from it.
      .catch((error: unknown) =>
        core.ports.report({ box: box.name, error: messageOf(error) }, "reconciling failed"),
      ),
  );
  await Promise.race([Promise.all(tasks), new Promise<void>((resolve) => clock.after(patienceMs, resolve))]);
}

interface Surroundings {
  readonly seen: ReadonlyMap<string, RuntimeStatus>;
  /** Runtimes that cannot be asked now, such as an engine that does not run, and why. */
  readonly unseen: Map<string, string>;
}

/** Asks every runtime what it has, all at once: one that is slow or not there keeps the daemon from nothing. */
async function lookAround({ ports: { runtimes } }: Using<"runtimes">): Promise<Surroundings> {
  const [seen, unseen] = [new Map<string, RuntimeStatus>(), new Map<string, string>()];
  const look = async (name: string): Promise<void> => {
    try {
      const found = await (await runtimes.get(name)).list();
      for (const status of found) seen.set(`${name}/${status.name}`, status);
    } catch (error) {
      unseen.set(name, messageOf(error));
    }
  };
  await Promise.all(runtimes.names.map(look));
  return { seen, unseen };
}

/** A box whose runtime is away stays as it was written down, until the first request that reaches the runtime again. */
function waitForRuntimes(
  core: Using<StartParts | "access">,
  boxes: readonly Box[],
  unseen: Map<string, string>,
): void {
  for (const box of boxes) {
    const error = unseen.get(box.spec.runtime);
    if (error !== undefined) core.ports.report({ box: box.name, error }, "the runtime of a box is away");
  }
  core.ports.runtimes.onOpen((name) => {
    if (!unseen.delete(name)) return;
    const waiting = boxes.filter(({ spec }) => spec.runtime === name).map((box) => box.name);
    core.background(`looking at ${name}, which is back`, catchUp(core, name, waiting));
  });
}

/** Reconciles the boxes of a runtime that was absent when the daemon started. */
async function catchUp(
  core: Using<StartParts | "access">,
  name: string,
  waiting: readonly string[],
): Promise<void> {
  const { store, runtimes } = core.ports;
  const runtime = await runtimes.get(name);
  const found = await runtime.list();
  const known = new Set((await store.listBoxes()).map((box) => box.name));
  for (const status of found) if (!known.has(status.name)) await runtime.remove(status.name);
  for (const box of waiting)
    await core.locked(box, async () => {
      // Asked under the lock: the request that brought the runtime back may have been about this very box.
      const now = await store.findBox(box);
      if (now === undefined || core.live.has(box)) return;
      await reconcileBox(core, now, await runtime.find(box), false);
    });
}

/** A record of an earlier version lacks what came later; what it means then is the schema's default. */
async function completeRecords(core: Using<"commit">, boxes: readonly Box[]): Promise<readonly Box[]> {
  const complete: Box[] = [];
  for (const box of boxes) {
    const parsed = Box.safeParse(box);
    const now = parsed.success ? parsed.data : box;
    if (JSON.stringify(now.spec) !== JSON.stringify(box.spec)) await core.commit({ update: now, events: [] });
    complete.push(now);
  }
  return complete;
}

async function reconcileBox(
  core: Using<StartParts | "access">,
  box: Box,
  status: RuntimeStatus | undefined,
  isHostRestart: boolean,
): Promise<void> {
  const isAlive = status !== undefined && status.phase !== "stopped";
  switch (box.state.phase) {
    case "creating":
      return erase(core, box, "half_made");
    case "removing":
      return erase(core, box, "requested");
    case "stopping":
      await halt(core, box, { reason: box.state.reason, graceMs: 0 });
      return;
    case "stopped":
    case "failed":
      // SECURITY: a process without a record is a box that is not watched.
      if (isAlive) await (await core.ports.runtimes.get(box.spec.runtime)).stop(box.name, { graceMs: 0 });
      return;
    case "starting":
      return isAlive ? finishStart(core, box) : markStartFailed(core, box);
    case "running":
    case "paused":
      if (!isAlive) return markDead(core, box, status?.exitCode, isHostRestart);
      return adopt(core, await matchPause(core, box, status.phase === "paused"), status.phase === "paused");
  }
}

/** A box whose start was cut off either comes up now or is stopped; it is never left in between. */
async function finishStart(core: Using<AdoptParts>, box: Box): Promise<void> {
  try {
    await adopt(core, box, false);
  } catch (error) {
    core.ports.report(
      { box: box.name, error: messageOf(error) },
      "a start that was cut off could not be finished",
    );
    await halt(core, box, { reason: "died", graceMs: 0 });
  }
}

async function markStartFailed(
  core: Using<"clock" | "commit" | "event" | "runtimes">,
  box: Box,
): Promise<void> {
  await (await core.ports.runtimes.get(box.spec.runtime)).remove(box.name);
  const stopped = moveTo(box, { phase: "stopped", sinceMs: core.ports.clock.nowMs(), reason: "died" });
  await core.commit({ update: stopped, events: [core.event("box.died", stopped, { reason: "died" })] });
}

/** The crash may have come between freezing a box and writing it down, or the other way round. */
async function matchPause(
  core: Using<"clock" | "commit" | "event">,
  box: Box,
  isPaused: boolean,
): Promise<Box> {
  if (isPaused === (box.state.phase === "paused")) return box;
  const sinceMs = core.ports.clock.nowMs();
  const matched = moveTo(box, { phase: isPaused ? "paused" : "running", sinceMs });
  await core.commit({
    update: matched,
    events: [core.event(isPaused ? "box.paused" : "box.resumed", matched)],
  });
  return matched;
}

/** Removes what belongs to no record: processes first, then files. */
async function sweep(
  core: Using<"runtimes" | "storage">,
  boxes: readonly Box[],
  seen: ReadonlyMap<string, RuntimeStatus>,
): Promise<void> {
  const { runtimes, storage } = core.ports;
  const known = new Set(boxes.map((box) => `${box.spec.runtime}/${box.name}`));
  for (const [key, status] of seen) {
    if (!known.has(key)) await (await runtimes.get(key.slice(0, key.indexOf("/")))).remove(status.name);
  }
  const names = new Set(boxes.map(({ name }) => name));
  for (const name of await storage.list()) if (!names.has(name)) await storage.remove(name);
}

/** A box that was coming back when the daemon ended is removed again, unless nothing but a record was missing. */
async function finishRestores(core: Using<StartParts | "access">): Promise<void> {
  const { store, storage } = core.ports;
  const boxes = new Map((await store.listBoxes()).map((box) => [box.incarnation, box]));
  const kept = new Set(await storage.listKept());
  for (const removed of await store.listReview("removed", {})) {
    const box = boxes.get(removed.incarnation);
    if (!box || box.state.phase === "removing" || box.state.phase === "creating") continue;
    if (!kept.has(removed.incarnation)) await core.commit(restoredChange(core, box, removed));
    else await erase(core, box, "half_made");
  }
}

async function hostHasRestarted(core: Using<"host" | "store">): Promise<boolean> {
  const { store, host } = core.ports;
  const [last] = await store.listEvents({ type: "daemon.started", limit: 1, newestFirst: true });
  return last !== undefined && last.data["bootId"] !== host.bootId;
}
