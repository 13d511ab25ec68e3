/** The work of removed boxes: for how long it is kept, and what is there. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { RemovedBox, RemovedRecord } from "../../contract/review/removed.ts";
import type { StoreChange } from "../../ports/store.ts";
import { parseUserConfig } from "../../manifest/index.ts";
import type { Visibility } from "../access/visibility.ts";
import type { RecordParts, Using } from "../using.ts";
import type { LookedAtWork } from "./unmerged-work.ts";

const dayMs = 86_400_000;
const defaultKeepDays = 7;
const sweepEveryMs = 10 * 60_000;

/** A config that cannot be read keeps work: nothing is lost by a typing error. */
export async function keepDays(core: Using<"host">): Promise<number> {
  const file = await core.ports.host.readUserConfig();
  const config = file && parseUserConfig(file.text, { file: file.file }).config;
  return config?.removed?.keep_days ?? defaultKeepDays;
}

/** Undefined when nothing of the box is worth keeping. */
export function removedRecord(
  box: Box,
  { checkpoints, upstream, unmerged }: LookedAtWork,
  { nowMs, days }: { readonly nowMs: number; readonly days: number },
): RemovedRecord | undefined {
  const hasWork = checkpoints.some(({ reason }) => reason !== "base");
  if (days === 0 || !hasWork) return undefined;
  const { name, incarnation } = box;
  return {
    box: name,
    incarnation,
    record: box,
    checkpoints,
    upstream,
    unmerged,
    removedAtMs: nowMs,
    expiresAtMs: nowMs + days * dayMs,
  };
}

export const removedInfo = ({
  incarnation,
  box,
  record,
  removedAtMs,
  expiresAtMs,
  unmerged,
}: RemovedRecord): RemovedBox => ({
  id: incarnation,
  name: box,
  agent: record.spec.agent.name,
  ...omitUndefined({ task: record.run?.task, projectDir: record.projectDir }),
  removedAtMs,
  expiresAtMs,
  unmerged,
});

/** The newest first; a box that is still on its way out is not among them. */
export async function listRemoved(core: Using<"store">): Promise<readonly RemovedRecord[]> {
  const { store } = core.ports;
  const there = new Set((await store.listBoxes()).map(({ incarnation }) => incarnation));
  const all = await store.listReview("removed", {});
  return all
    .filter(({ incarnation }) => !there.has(incarnation))
    .toSorted((a, b) => b.removedAtMs - a.removedAtMs);
}

/** SECURITY: only those of the caller's own boxes; the work of others is none of theirs. */
export async function listOwnRemoved(
  core: Using<"store">,
  access: Visibility,
): Promise<readonly RemovedRecord[]> {
  return (await listRemoved(core)).filter((removed) => access.roleOnLife(removed) === "own");
}

/** By its id, or the newest of a name. */
export async function findRemoved(
  core: Using<"store">,
  access: Visibility,
  wanted: string,
): Promise<RemovedRecord> {
  const all = await listOwnRemoved(core, access);
  const found =
    all.find(({ incarnation }) => incarnation === wanted) ?? all.find(({ box }) => box === wanted);
  if (found) return found;
  throw new AgentBoxError(
    "removed.not_found",
    `No removed box named ${JSON.stringify(wanted.slice(0, 80))} is kept.`,
    { hint: "List those that are: agentbox restore" },
  );
}

/** The records of a box that is back. */
export const restoredChange = (
  core: Using<"event">,
  { name, incarnation, ...box }: Box,
  { box: from, checkpoints, upstream, unmerged }: RemovedRecord,
): StoreChange => ({
  dropReview: { incarnation, kind: "removed", key: "0" },
  review: [
    ...checkpoints.map((one) => ({
      kind: "checkpoint" as const,
      key: String(one.number),
      value: { ...one, box: name },
    })),
    ...upstream.map((one) => ({
      kind: "upstream" as const,
      key: String(one.number),
      value: { ...one, box: name },
    })),
  ],
  events: [core.event("box.restored", { name, incarnation, ...box }, { from, files: unmerged.files })],
});

export async function forgetRemoved(
  core: Using<RecordParts | "storage">,
  { incarnation, record }: RemovedRecord,
  reason: "requested" | "expired",
): Promise<void> {
  await core.ports.storage.forgetReview(incarnation);
  await core.commit({
    dropReview: { incarnation, kind: "removed", key: "0" },
    events: [core.event("box.forgotten", record, { reason })],
  });
}

/** Deletes what was kept for long enough, and files that no record knows. Returns what is called at every tick. */
export function expireRemoved(core: Using<RecordParts | "storage">): () => Promise<void> {
  const { clock } = core.ports;
  let nextMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() < nextMs) return;
    nextMs = clock.monotonicMs() + sweepEveryMs;
    await sweepRemoved(core);
  };
}

export async function sweepRemoved(core: Using<RecordParts | "storage">): Promise<void> {
  const { store, storage, clock } = core.ports;
  const known = await store.listReview("removed", {});
  const there = new Set(known.map(({ incarnation }) => incarnation));
  for (const id of await storage.listKept()) if (!there.has(id)) await storage.forgetReview(id);
  for (const removed of await listRemoved(core))
    if (removed.expiresAtMs <= clock.nowMs()) await forgetRemoved(core, removed, "expired");
}
