import { useQueries, useQuery } from "@tanstack/react-query";
import { boxesQuery, budgetQuery } from "../api/queries.ts";
import { type WaitingBox, waitingBoxes } from "./waiting.ts";

/** Boxes that cannot go on or are done. Why a box is paused is known only by its budget, so that is asked for. */
export function useWaitingBoxes(): { readonly waiting: readonly WaitingBox[]; readonly isPending: boolean } {
  const { data: boxes = [], isPending } = useQuery(boxesQuery);
  const paused = boxes.filter(({ phase }) => phase === "paused");
  const budgets = useQueries({ queries: paused.map(({ name }) => budgetQuery(name)) });
  const exhausted = new Set(budgets.flatMap(({ data }) => (data?.isExhausted ? [data.box] : [])));
  return { waiting: waitingBoxes(boxes, exhausted), isPending };
}
