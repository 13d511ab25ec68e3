/** Brings a removed box back: a new box of the same life, with the work that was kept of it. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import { noNetwork } from "../../contract/network/policy.ts";
import type { RemovedRecord } from "../../contract/review/removed.ts";
import { raiseBox } from "../box/create-box.ts";
import { freeName, ownWorkspace, sameBase } from "../review/fresh-box.ts";
import { withLink } from "../review/quiet-box.ts";
import { restoreInto } from "../review/restore-checkpoint.ts";
import { boxPerson } from "../team/members.ts";
import type { StartParts, Using } from "../using.ts";
import { restoredChange } from "./removed-boxes.ts";
import { eraseByName } from "./erase-box.ts";

type Parts = Using<StartParts | "access" | "caches" | "getBox" | "ids" | "owners" | "workspaces">;

/**
 * It keeps its life: its merges still count, and a budget that was used up is not new. Grants that were for this box
 * alone ended with it, and are asked for again.
 */
export async function restoreRemoved(
  core: Parts,
  removed: RemovedRecord,
  { as }: { readonly as?: string | undefined },
): Promise<Box> {
  return core.locked(`removed:${removed.incarnation}`, () => restore(core, removed, as));
}

async function restore(core: Parts, removed: RemovedRecord, as: string | undefined): Promise<Box> {
  const { storage, reviews, store } = core.ports;
  const { incarnation, record, checkpoints } = removed;
  const [still] = await store.listReview("removed", { incarnation });
  const last = checkpoints.at(-1);
  const repository = await reviews.open(storage.keptReviewDir(incarnation));
  if (!still || !last || !repository) throw noLonger(removed.box);
  const { projectDir, manifestDigest, isolation, network, baseCommit } = record;
  const name = as ?? (await freeName(core, removed.box));
  const raised = await raiseBox(core, {
    name,
    incarnation,
    spec: {
      ...record.spec,
      workspace: ownWorkspace(record),
    },
    isolation,
    main: undefined,
    run: undefined,
    projectDir,
    network: network ?? noNetwork,
    manifestDigest,
    isStarted: false,
    person: boxPerson(core.access.records.state, record),
  });
  try {
    await withLink(core, raised.name, (made, link) => restoreInto(made, link, repository, last.commit));
    await sameBase(core, raised.name, { baseCommit });
  } catch (error) {
    await eraseByName(core, raised.name, "half_made");
    throw error;
  }
  return core.locked(raised.name, async () => {
    const box = await core.getBox(raised.name);
    await storage.giveReview(incarnation, box.name);
    await core.commit(restoredChange(core, box, removed));
    return box;
  });
}

const noLonger = (name: string): AgentBoxError =>
  new AgentBoxError("removed.not_found", `The work of the removed box "${name}" is no longer kept.`, {
    hint: "List those that are: agentbox restore",
  });
