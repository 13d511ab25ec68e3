/** The obstacle for a box whose budget is too small, in words. Without zod, for the page and every command. */
import type { BudgetObstacle } from "./budget.ts";

/** `1,200 tokens`, `$2.50`. */
export const budgetAmount = (value: number, unit: BudgetObstacle["unit"]): string =>
  unit === "tokens"
    ? `${value.toLocaleString("en-US")} tokens`
    : `$${(value / 1_000_000).toFixed(value < 10_000_000 ? 4 : 2)}`;

/** One sentence with the numbers: why the next request is not let through. */
export function obstacleSentence({ unit, used, limit, next }: BudgetObstacle): string {
  const [spent, most] = [budgetAmount(used, unit), budgetAmount(limit, unit)];
  return `The next request may use ${budgetAmount(next, unit)}; the limit is ${most}, of which ${spent} are used.`;
}

/** By how much to raise at least, so that the request fits. */
export const raiseBy = ({ used, limit, next }: BudgetObstacle): number => Math.max(1, next - (limit - used));

/** The flags of `budget raise` for that. Dollars are rounded up to a cent. */
export function raiseFlags(obstacle: BudgetObstacle): string {
  const by = raiseBy(obstacle);
  return obstacle.unit === "tokens" ? `--tokens ${by}` : `--usd ${(Math.ceil(by / 10_000) / 100).toFixed(2)}`;
}
