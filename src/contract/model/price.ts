import { z } from "zod";

const UsdPerMillion = z.number().min(0).max(100_000);

/** US dollars for a million tokens. */
export const ModelPrice = z.strictObject({
  input: UsdPerMillion.describe("US dollars for a million tokens of input."),
  output: UsdPerMillion.describe("US dollars for a million tokens of output."),
  cached: UsdPerMillion.optional().describe("Input read from the cache; without it: as input."),
  cache_write: UsdPerMillion.optional().describe("Input written to the cache; without it: as input."),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** Prices by model name; a name may end in `*`. The most exact name wins. */
export interface PriceTable {
  /** When the prices were looked up, as YYYY-MM-DD; shown with every cost. */
  readonly date: string;
  readonly prices: Readonly<Record<string, ModelPrice>>;
}
