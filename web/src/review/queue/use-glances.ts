/** A short look at each of several boxes, a few at a time: each may cost the daemon a checkpoint. */
import { useQueries, useQueryClient } from "@tanstack/react-query";
import type { EventType } from "../../../../src/contract/events.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import { useReviewOf } from "../../api/me.ts";
import { useLiveEvents } from "../../api/live.ts";

export interface Glance {
  readonly box: string;
  readonly review: Review | undefined;
  readonly error: unknown;
}

const atOnce = 2;
const keyOf = (box: string) => ["glance", box];

/** Events that make a glance old. Not a discarded box: there is nothing left to look at. */
const news: ReadonlySet<EventType> = new Set<EventType>([
  "agent.ended",
  "check.ended",
  "review.commented",
  "review.sent",
  "work.merged",
  "work.undone",
]);

export function useGlances(boxes: readonly string[]): readonly Glance[] {
  const queries = useQueryClient();
  const reviewOf = useReviewOf();
  useLiveEvents(({ type, box, data }) => {
    // The log tells of an undone merge without a box of its own.
    const about = box ?? data["box"];
    if (news.has(type) && typeof about === "string")
      void queries.invalidateQueries({ queryKey: keyOf(about) });
  });
  const isOver = (box: string) => (queries.getQueryState(keyOf(box))?.status ?? "pending") !== "pending";
  const waiting = boxes.filter((box) => !isOver(box)).slice(0, atOnce);
  const results = useQueries({
    queries: boxes.map((box) => ({
      queryKey: keyOf(box),
      queryFn: () => reviewOf!(box),
      enabled: reviewOf !== undefined && (isOver(box) || waiting.includes(box)),
      retry: false,
    })),
  });
  return boxes.map((box, index) => ({
    box,
    review: results[index]?.data,
    error: results[index]?.error ?? undefined,
  }));
}
