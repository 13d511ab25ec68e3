/**
 * The state that was last shown to each person. SECURITY: a merge that names no state lands this one and no other, so
 * that work which the agent did after a person's look does not land with it.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { Principal } from "../../contract/access/principal.ts";
import type { Box } from "../../contract/box.ts";
import type { Look } from "../../contract/review/look.ts";
import { idOf } from "../access/caller.ts";
import type { Using } from "../using.ts";
import { commitOf } from "./judge-landing.ts";
import { baseOf, checkpointsOf, resolveCheckpoint, reviewOf } from "./review-of.ts";

/** Kept for a box; more people than this do not land the work of one. */
const maxLooks = 32;

/** A token's looks are its own: what a program fetched, no person has seen. */
export const lookerOf = (principal: Principal): string =>
  [principal.kind, idOf(principal)].filter((part) => part !== undefined).join(":");

export interface Shown {
  readonly digest: string;
  /** The start of the part that was shown; the base by default. */
  readonly since?: string | undefined;
}

/** False when what was shown is a part that does not follow on what the same caller saw before. */
export async function keepLook(
  core: Using<"clock" | "commit" | "getBox" | "locked" | "reviews" | "storage" | "store">,
  name: string,
  who: string,
  { digest, since = "base" }: Shown,
): Promise<boolean> {
  const box = await core.getBox(name);
  const repository = await reviewOf(core, box);
  const base = await baseOf(core, box, repository);
  const known = [base, ...(await checkpointsOf(core, box)).map(({ commit }) => commit)];
  if (!known.includes(commitOf(digest))) {
    throw new AgentBoxError("checkpoint.not_found", `The box "${name}" never had the state that was shown.`, {
      hint: `Look at it: agentbox diff ${name}`,
    });
  }
  const from = await resolveCheckpoint(core, box, repository, since);
  return core.locked(`looks:${name}`, async () => {
    const looks = await looksOf(core, box);
    const own = looks.find((look) => look.who === who);
    if (from.commit !== base && (own === undefined || from.commit !== commitOf(own.digest))) return false;
    if (own?.digest === digest) return true;
    const { incarnation } = box;
    const slot = own?.slot ?? freeSlot(looks);
    const value: Look = { box: name, incarnation, who, digest, atMs: core.ports.clock.nowMs(), slot };
    await core.commit({ review: [{ kind: "look", key: String(slot), value }], events: [] });
    return true;
  });
}

export const findLook = async (core: Using<"store">, box: Box, who: string): Promise<Look | undefined> =>
  (await looksOf(core, box)).find((look) => look.who === who);

const looksOf = (core: Using<"store">, { incarnation }: Box): Promise<readonly Look[]> =>
  core.ports.store.listReview("look", { incarnation });

export function freeSlot(looks: readonly Pick<Look, "slot" | "atMs">[]): number {
  if (looks.length < maxLooks) return looks.length;
  return looks.reduce((oldest, look) => (look.atMs < oldest.atMs ? look : oldest)).slot;
}
