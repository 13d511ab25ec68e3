/**
 * One look at a box's work. It is never renewed behind a person's back: what they have looked at is what they merge,
 * and when the work goes on they are told, and look again.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Review } from "../../../src/contract/review/review.ts";
import { useReviewOf } from "../api/me.ts";
import { useLiveEvents } from "../api/live.ts";
import type { PatchRange } from "./diff/use-patches.ts";

export interface Look {
  readonly review: Review | undefined;
  readonly error: unknown;
  readonly isLooking: boolean;
  /** The work is not what it was when it was looked at. */
  readonly isOutdated: boolean;
  readonly setOutdated: () => void;
  readonly again: () => void;
  /** Changes what is kept here, such as the results of checks. */
  readonly update: (change: (review: Review) => Review) => void;
}

export function useLook(box: string, range: PatchRange): Look {
  const queries = useQueryClient();
  const reviewOf = useReviewOf();
  const [outdated, setOutdated] = useState<string>();
  const queryKey = ["look", box, range.from, range.to, range.against];
  const { data, error, isFetching, refetch } = useQuery({
    queryKey,
    queryFn: () => reviewOf!(box, range),
    enabled: reviewOf !== undefined,
    staleTime: "static",
    gcTime: 0,
  });
  const digest = data?.digest;
  useLiveEvents(
    ({ type, data: facts }) => {
      const { number } = facts;
      const isNewer = typeof number === "number" && number > (data?.checkpoint?.number ?? 0);
      if (type === "checkpoint.taken" && isNewer && range.to === undefined) setOutdated(digest);
    },
    { box },
  );
  return {
    review: data,
    error,
    isLooking: isFetching,
    isOutdated: digest !== undefined && outdated === digest,
    setOutdated: () => setOutdated(digest),
    again: () => void refetch(),
    update: (change) =>
      queries.setQueryData<Review>(queryKey, (now) => (now === undefined ? undefined : change(now))),
  };
}
