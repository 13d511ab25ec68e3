import type { Check } from "./check-context.ts";
import type { Problem } from "../finding.ts";

export const checkBudget: Check = ({ budget = {} }) =>
  Object.entries(budget).flatMap(([scope, limit]): Problem[] => {
    if (limit?.tokens !== undefined || limit?.usd !== undefined) return [];
    const message = `budget.${scope} names neither tokens nor usd.`;
    const hint = `Write a limit, such as budget.${scope}.tokens = 1000000.`;
    return [{ code: "E049", path: ["budget", scope], at: "key", message, hint }];
  });
