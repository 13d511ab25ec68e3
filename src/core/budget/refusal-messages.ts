/** What an agent shows when it may not go on: one sentence, with the numbers and the way out. */
import { printable } from "../../base/printable.ts";
import type { BudgetScope } from "../../contract/model/budget.ts";
import type { Obstacle, Unit } from "./decide-reservation.ts";

const scopeNames: Readonly<Record<BudgetScope, string>> = {
  run: "this run",
  box: "this box",
  day: "today",
  tree: "this tree of boxes",
};

const shown = (value: number, unit: Unit): string =>
  unit === "tokens" ? `${value} tokens` : `$${(value / 1_000_000).toFixed(4)}`;

export function exhaustedMessage({ held, unit, used, limit }: Obstacle): string {
  const left = shown(Math.max(0, limit - used), unit);
  const { scope, layer } = held.limit;
  const way = `agentbox budget raise ${held.holder} --scope ${scope} --${unit === "tokens" ? "tokens" : "usd"} N`;
  return `The budget of ${scopeNames[scope]} (${shown(limit, unit)}, set by ${layer}) has ${left} left, too little for this request; raise it with: ${way}`;
}

export const priceUnknownMessage = (model: string): string =>
  `A budget of money holds for this box and the price of the model "${printable(model.slice(0, 80))}" is not known; set it under [model.prices] in the user configuration, or choose another model.`;

export const termUnknownMessage = (model: string, terms: readonly string[]): string =>
  `A budget of money holds for this box and what ${terms.map((term) => `"${printable(term)}"`).join(" and ")} costs with the model "${printable(model.slice(0, 80))}" is not known; leave it out of the request, or set it under [model.prices."${printable(model.slice(0, 80))}".terms] in the user configuration.`;
