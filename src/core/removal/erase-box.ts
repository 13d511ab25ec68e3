import type { Box } from "../../contract/box.ts";
import type { RemovedRecord } from "../../contract/review/removed.ts";
import { forgetShares } from "../access/keep-shares.ts";
import { closeLink } from "../boot/start-box.ts";
import { moveTo } from "../box/box-phases.ts";
import type { RemoveParts, Using } from "../using.ts";

/**
 * Ends a box and deletes all it has on this host, but for the work that `removed` says is kept. The caller holds the
 * lock. Can be repeated: a crash half-way is finished at the next start.
 */
export async function erase(
  core: Using<RemoveParts>,
  box: Box,
  reason: string,
  removed?: RemovedRecord,
): Promise<void> {
  const { storage, store, runtimes, logs, clock } = core.ports;
  if (box.state.phase !== "removing") {
    const removing = moveTo(box, { phase: "removing", sinceMs: clock.nowMs() });
    await core.commit({
      update: removing,
      ...(removed ? { review: [{ kind: "removed", key: "0", value: removed }] } : {}),
      events: [core.event("box.removing", removing, { reason })],
    });
  }
  await closeLink(core, box.name);
  const runtime = await runtimes.get(box.spec.runtime);
  await runtime.remove(box.name);
  await logs.forget(box.name);
  const { incarnation } = box;
  const [kept] = await store.listReview("removed", { incarnation });
  if (kept) await storage.keepReview(box.name, incarnation);
  await storage.remove(box.name);
  const data = { reason, ...(kept ? { restorable: true } : {}) };
  await core.commit({ remove: { name: box.name }, events: [core.event("box.removed", box, data)] });
  core.eventBytes.forget(box);
  core.approvals.forget(box);
  core.background("ending the shares of a box", forgetShares(core, box));
}

/** The same for a box that the host has made for itself, whatever it is doing. */
export const eraseByName = (
  core: Using<RemoveParts | "getBox" | "locked">,
  name: string,
  reason: string,
): Promise<void> => core.locked(name, async () => erase(core, await core.getBox(name), reason));
