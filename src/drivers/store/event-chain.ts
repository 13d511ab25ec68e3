/**
 * Ties each event to the one before it: its digest is over itself and the digest before. Changing, removing or swapping
 * an event breaks the chain there; cutting off its end is found by comparing with an earlier head noted elsewhere.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { ChainMark, EventChain } from "../../ports/store.ts";

export interface ChainedEvent {
  readonly event: BoxEvent;
  /** As it is stored. */
  readonly digest: string;
}

/** `event.data` as it was read from its stored text: what JSON leaves out is in no digest. */
export function eventDigest(event: BoxEvent, previous: string): string {
  const { id, atMs, type, box = null, incarnation = null, data } = event;
  const text = canonicalJson({ id, atMs, type, box, incarnation, data, previous });
  return createHash("sha256").update(text).digest("hex");
}

/** Follows the pages in order; each is let go before the next is read. */
export async function verifyChain(
  pages: AsyncIterable<readonly ChainedEvent[]>,
  mark: ChainMark | undefined,
): Promise<EventChain> {
  let [events, head] = [0, ""];
  let isMarkSeen = mark === undefined || (mark.id === 0 && mark.head === "");
  for await (const page of pages) {
    for (const { event, digest } of page) {
      const expected = eventDigest(event, head);
      const isMarked = event.id === mark?.id;
      // Numbers have no holes, so a log that begins later, or jumps, has lost what was there.
      const isNext = event.id === events + 1;
      if (!isNext || digest !== expected || (isMarked && mark?.head !== digest))
        return { events, head, brokenAt: isNext ? event.id : events + 1 };
      [events, head] = [event.id, digest];
      isMarkSeen ||= isMarked;
    }
  }
  return isMarkSeen ? { events, head } : { events, head, brokenAt: events + 1 };
}
