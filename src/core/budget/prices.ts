import type { ModelPrice } from "../../contract/model/price.ts";

export type Prices = Readonly<Record<string, ModelPrice>>;

/** How vendors date a model: -20250929, @20250929, -2025-04-14; and -latest for "the newest of these". */
const dated = /(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/;

/**
 * The price of a model: the first table that has one wins, so a person's own come first. In a table the exact name
 * wins, then the name without its date, then the longest pattern that ends in `*`.
 */
export function findPrice(model: string, tables: readonly Prices[]): ModelPrice | undefined {
  for (const table of tables) {
    const price = findIn(table, model);
    if (price) return price;
  }
  return undefined;
}

function findIn(table: Prices, model: string): ModelPrice | undefined {
  // SECURITY: the name comes from the box; hasOwn, because "constructor" is in every object and would be a free model.
  for (const name of [model, model.replace(dated, "")]) if (Object.hasOwn(table, name)) return table[name];
  const patterns = Object.keys(table).filter(
    (name) => name.endsWith("*") && model.startsWith(name.slice(0, -1)),
  );
  const longest = patterns.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : table[longest];
}
