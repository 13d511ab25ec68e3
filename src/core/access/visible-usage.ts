import type { z } from "zod";
import type { UsageAnswer, UsageFilter } from "../../contract/api/schemas.ts";
import { noUsage, type TokenUsage, type UsageTotals } from "../../contract/model/usage.ts";
import { readUsage } from "../budget/read-usage.ts";
import type { Using } from "../using.ts";
import type { Visibility } from "./visibility.ts";
import { visibleNames } from "./visible-records.ts";

const noSpending: UsageTotals = { requests: 0, usage: noUsage, costMicroUsd: 0, unpriced: 0, estimated: 0 };

const addUsage = (one: TokenUsage, other: TokenUsage): TokenUsage => ({
  input: one.input + other.input,
  output: one.output + other.output,
  cached: one.cached + other.cached,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  reasoning: one.reasoning + other.reasoning,
});

const add = (one: UsageTotals, other: UsageTotals): UsageTotals => ({
  requests: one.requests + other.requests,
  usage: addUsage(one.usage, other.usage),
  costMicroUsd: one.costMicroUsd + other.costMicroUsd,
  unpriced: one.unpriced + other.unpriced,
  estimated: one.estimated + other.estimated,
});

/** Cost of everything for a caller of the host; for all others, of the boxes they see. */
export async function visibleUsage(
  core: Using<"budgets" | "store">,
  access: Visibility,
  filter: z.infer<typeof UsageFilter>,
): Promise<UsageAnswer> {
  if (access.isOfHost) return readUsage(core, filter);
  const names = await visibleNames(core, access, filter.box);
  const answers = await Promise.all(names.map((box) => readUsage(core, { ...filter, box })));
  const groups = new Map<string, UsageTotals>();
  for (const { key, totals } of answers.flatMap((answer) => answer.groups))
    groups.set(key, add(groups.get(key) ?? noSpending, totals));
  return {
    totals: answers.reduce((sum, { totals }) => add(sum, totals), noSpending),
    groups: [...groups]
      .map(([key, totals]) => ({ key, totals }))
      .sort((one, other) => other.totals.costMicroUsd - one.totals.costMicroUsd),
    pricesOf: core.budgets.pricesOf,
  };
}
