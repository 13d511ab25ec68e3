import type { Box, WorkspaceSpec } from "../../contract/box.ts";
import { noNetwork } from "../../contract/network/policy.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { ReviewRepository } from "../../ports/review.ts";
import { type Maker, boxPerson } from "../team/members.ts";
import type { RecordParts, StartParts, Using } from "../using.ts";
import { raiseBox } from "../box/create-box.ts";
import { orderedUses } from "../secrets/authorise-use.ts";
import type { AskedUse } from "../secrets/secret-grants.ts";
import { withoutSecretRules } from "../policy/secret-rules.ts";
import { eraseByName } from "../removal/erase-box.ts";
import { withLink } from "./quiet-box.ts";
import { restoreInto } from "./restore-checkpoint.ts";
import type { ReviewSubject } from "./read-review.ts";
import { baseOf, hasRepository } from "./review-of.ts";
import { takeFrom } from "./checkpoint-over-link.ts";

interface ForkOptions {
  readonly name: string;
  readonly keepsAgent: boolean;
  /** By default, the owner of the box that it comes from. */
  readonly maker?: Maker | undefined;
}

/** A box of its own with the state of a checkpoint in it, under the policy and limits of the box it came from. */
export async function forkBox(
  core: Using<StartParts | "access" | "caches" | "getBox" | "ids" | "owners" | "workspaces">,
  { box, repository, to }: ReviewSubject,
  { name, keepsAgent, maker }: ForkOptions,
): Promise<Box> {
  const { network, projectDir, manifestDigest, isolation } = box;
  const { model, ...spec } = box.spec;
  const fork = await raiseBox(core, {
    name,
    spec: {
      ...spec,
      agent: keepsAgent ? spec.agent : { name: "shell", args: [], autonomy: "full", options: {} },
      workspace: ownWorkspace(box),
      services: keepsAgent ? spec.services : [],
      // SECURITY: a check runs code that the agent wrote, unobserved. A person agreed that the agent uses the secrets,
      // not that its tests and all they start do; a check that needs a secret would also be a check of the world.
      secrets: keepsAgent ? spec.secrets : [],
      // The keys of models are secrets, too.
      ...(keepsAgent && model !== undefined ? { model } : {}),
    },
    isolation,
    main: undefined,
    run: undefined,
    projectDir,
    // SECURITY: a host of a secret is not an open one. Without the secret, the gate would not keep a foreign token from
    // being sent there.
    network: keepsAgent ? (network ?? noNetwork) : withoutSecretRules(network ?? noNetwork),
    manifestDigest,
    isStarted: false,
    grants: keepsAgent ? await ownGrants(core, box) : [],
    person: maker ? maker.person : boxPerson(core.access.records.state, box),
  });
  try {
    await withLink(core, fork.name, async (made, link) => {
      const { mode, url } = made.spec.workspace;
      const isLasting = keepsAgent && (mode !== "clone" || url !== undefined);
      if (isLasting)
        await beginWith(core, made, link, { repository, commit: await baseOf(core, box, repository) });
      await restoreInto(made, link, repository, to);
      if (isLasting) await takeFrom(core, made, link, { reason: "restore" });
    });
    return await sameBase(core, fork.name, box);
  } catch (error) {
    await eraseByName(core, fork.name, "half_made");
    throw error;
  }
}

/** For a box that begins with what another has done: never that one's mounted directory. */
export const ownWorkspace = (box: Pick<Box, "spec" | "baseCommit">): WorkspaceSpec =>
  hasRepository(box)
    ? { ...box.spec.workspace, mode: "clone", carry: "none" }
    : { mode: "empty", carry: "none" };

/** A grant to the box alone counts for a fork of it, unless it was taken back. */
async function ownGrants(core: Using<"secretGrants">, box: Box): Promise<readonly AskedUse[]> {
  const uses = orderedUses(box.spec.secrets);
  const isGranted = await Promise.all(uses.map((use) => core.secretGrants.covers(box, use)));
  return uses.filter((_, index) => isGranted[index]);
}

/**
 * Files that are in no commit of the project's are put there first, so that the fork's work is only what came after
 * them.
 */
async function beginWith(
  core: Using<RecordParts | "locked" | "reviews" | "storage">,
  fork: Box,
  link: BoxLink,
  { repository, commit }: { readonly repository: ReviewRepository; readonly commit: string },
): Promise<void> {
  await restoreInto(fork, link, repository, commit);
  await takeFrom(core, fork, link, { reason: "base" });
}

/** The person may have gone on meanwhile: what the fork did is what it did since its origin's base, not since theirs. */
export const sameBase = (
  core: Using<"commit" | "getBox" | "locked">,
  name: string,
  { baseCommit }: Pick<Box, "baseCommit">,
): Promise<Box> =>
  core.locked(name, async () => {
    const fork = await core.getBox(name);
    if (baseCommit === undefined) return fork;
    const update = { ...fork, baseCommit };
    await core.commit({ update, events: [] });
    return update;
  });

export async function freeName(core: Using<"store">, base: string): Promise<string> {
  const taken = new Set((await core.ports.store.listBoxes()).map(({ name }) => name));
  if (!taken.has(base)) return base;
  for (let count = 2; ; count += 1) if (!taken.has(`${base}-${count}`)) return `${base}-${count}`;
}
