import { useQuery } from "@tanstack/react-query";
import type { RouteBodyInput, RouteResponse } from "../../../src/contract/api/routes.ts";
import type { Scope } from "../../../src/contract/access/scope-names.ts";
import type { BoxRole } from "../../../src/contract/access/principal.ts";
import type { Review } from "../../../src/contract/review/review.ts";
import { client } from "./client.ts";
import { boxesQuery, meQuery } from "./queries.ts";

export type Me = RouteResponse<"getMe">;

export const useMe = (): Me | undefined => useQuery(meQuery).data;

/** Whether to show a button; the daemon decides again. */
export const useMay = (scope: Scope): boolean => useMe()?.scopes.includes(scope) ?? false;

/**
 * How to look at a box's work: with a checkpoint of it as it is now, or, for a person who may only look, as it was kept
 * last, because a checkpoint starts a stopped box. Undefined while it is not known who asks.
 */
export function useReviewOf():
  | ((box: string, range?: RouteBodyInput<"checkpointAndReview">) => Promise<Review>)
  | undefined {
  const me = useMe();
  const { data: boxes } = useQuery(boxesQuery);
  if (me === undefined || boxes === undefined) return undefined;
  return (box, range = {}) => {
    const role = boxes.find(({ name }) => name === box)?.role ?? "own";
    const mayTake = me.scopes.includes("work") && role !== "look";
    return mayTake ? client.checkpointAndReview(box, range) : client.getReview(box, range);
  };
}

const order: readonly BoxRole[] = ["look", "work", "own"];

/** Whether the person may do what needs this role on a box. */
export function useMayOn(box: string, needed: BoxRole): boolean {
  const role = useQuery(boxesQuery).data?.find(({ name }) => name === box)?.role ?? "own";
  return order.indexOf(role) >= order.indexOf(needed);
}
