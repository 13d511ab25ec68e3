/**
 * The dangers that a person has marked as looked at, so that a reload does not ask again. A mark is for the content that
 * they saw: with other content of any danger of the kind it is void. SECURITY: a mark accepts nothing. A merge names the
 * kinds that it accepts, and the digest of the state that was shown.
 */
import { createHash } from "node:crypto";
import type { Box } from "../../contract/box.ts";
import type { Change } from "../../contract/review/change.ts";
import type { DangerKind } from "../../contract/review/danger.ts";
import type { DangerLook, DangerMarks } from "../../contract/review/danger-look.ts";
import type { Review } from "../../contract/review/review.ts";
import type { Using } from "../using.ts";
import { freeSlot } from "./last-look.ts";

/** Every kind of danger in the review, and whether this caller has looked at this content of it. */
export async function dangerLooksOf(
  core: Using<"store">,
  box: Box,
  who: string,
  review: Pick<Review, "dangers" | "changes" | "digest">,
): Promise<DangerLook[]> {
  const marks = (await marksOf(core, box)).find((one) => one.who === who)?.kinds;
  return [...contentsOf(review)].map(([kind, content]) => ({
    kind,
    content,
    isLooked: marks?.[kind] === content,
  }));
}

/** Names what there is of each kind: the sentences, and the content of the files that they are about. Pure. */
export function contentsOf({
  dangers,
  changes,
  digest,
}: Pick<Review, "dangers" | "changes" | "digest">): ReadonlyMap<DangerKind, string> {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const parts = new Map<DangerKind, string[]>();
  for (const { kind, path, line, why } of dangers) {
    const change = byPath.get(path);
    // A danger without a change of its own, such as that of a link, may come from anything: any new state voids it.
    const content = change === undefined ? digest : contentOf(change);
    parts.set(kind, [...(parts.get(kind) ?? []), JSON.stringify([path, line ?? 0, why, content])]);
  }
  return new Map(
    [...parts].map(([kind, all]) => [
      kind,
      createHash("sha256").update(all.toSorted().join("\n")).digest("hex").slice(0, 32),
    ]),
  );
}

const contentOf = ({ oldId, newId, oldMode, newMode }: Change): string =>
  [oldId, newId, oldMode, newMode].join(" ");

export const noteDangerLook = (
  core: Using<"clock" | "commit" | "getBox" | "locked" | "store">,
  name: string,
  who: string,
  { kind, content, isLooked }: DangerLook,
): Promise<void> =>
  core.locked(`looks:${name}`, async () => {
    const box = await core.getBox(name);
    const all = await marksOf(core, box);
    const own = all.find((one) => one.who === who);
    const { [kind]: _, ...others } = own?.kinds ?? {};
    const { incarnation } = box;
    const value: DangerMarks = {
      box: name,
      incarnation,
      who,
      kinds: isLooked ? { ...others, [kind]: content } : others,
      atMs: core.ports.clock.nowMs(),
      slot: own?.slot ?? freeSlot(all),
    };
    await core.commit({ review: [{ kind: "marks", key: String(value.slot), value }], events: [] });
  });

const marksOf = (core: Using<"store">, { incarnation }: Box): Promise<readonly DangerMarks[]> =>
  core.ports.store.listReview("marks", { incarnation });
