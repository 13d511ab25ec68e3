/** A short look at each of several boxes, a few at a time: each costs the daemon a checkpoint. */
import { useQueries, useQueryClient } from "@tanstack/react-query";
import type { Review } from "../../../src/contract/review/review.ts";
import { client } from "../api/client.ts";

export interface Glance {
  readonly box: string;
  readonly review: Review | undefined;
  readonly error: unknown;
}

const atOnce = 2;
const keyOf = (box: string) => ["review", box, "glance"];

export function useGlances(boxes: readonly string[]): readonly Glance[] {
  const queries = useQueryClient();
  const isOver = (box: string) => (queries.getQueryState(keyOf(box))?.status ?? "pending") !== "pending";
  const waiting = boxes.filter((box) => !isOver(box)).slice(0, atOnce);
  const results = useQueries({
    queries: boxes.map((box) => ({
      queryKey: keyOf(box),
      queryFn: () => client.getReview(box),
      enabled: isOver(box) || waiting.includes(box),
      retry: false,
    })),
  });
  return boxes.map((box, index) => ({
    box,
    review: results[index]?.data,
    error: results[index]?.error ?? undefined,
  }));
}
