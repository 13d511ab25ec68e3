import type { z } from "zod";
import type { UsageAnswer, UsageFilter } from "../../contract/api/schemas.ts";
import type { Using } from "../using.ts";

/** Tokens and cost, summed up and by one property. */
export async function readUsage(
  core: Using<"budgets" | "store">,
  filter: z.infer<typeof UsageFilter>,
): Promise<UsageAnswer> {
  const { box, agent, projectDir, from: fromMs, to: toMs, by } = filter;
  const { store } = core.ports;
  // Of several boxes that had the name one after the other, the one that is there is meant.
  const incarnation = box === undefined ? undefined : (await store.findBox(box))?.incarnation;
  const query = { box, incarnation, agent, projectDir, fromMs, toMs };
  const [totals, groups] = await Promise.all([store.sumModel(query), store.groupModel(query, by)]);
  return { totals, groups: [...groups], pricesOf: core.budgets.pricesOf };
}
