import { z } from "zod";

const UsdPerMillion = z.number().min(0).max(100_000);

const Factor = z.number().min(0).max(1_000);

/** A prompt beyond so many tokens makes the whole request dearer. */
const LongPrice = z.strictObject({
  above: z.int().min(1).describe("Tokens of input, beyond which all of the request has the other price."),
  input: Factor.describe("What the price of the input is multiplied by then."),
  output: Factor.describe("What the price of the output is multiplied by then."),
});

/** US dollars for a million tokens. */
export const ModelPrice = z.strictObject({
  input: UsdPerMillion.describe("US dollars for a million tokens of input."),
  output: UsdPerMillion.describe("US dollars for a million tokens of output."),
  cached: UsdPerMillion.optional().describe("Input read from the cache; without it: as input."),
  cache_write: UsdPerMillion.optional().describe("Input written to the cache; without it: as input."),
  long: LongPrice.optional().describe("What long prompts cost; without it: as others."),
  terms: z
    .record(z.string().max(128), Factor.describe("What the price is multiplied by."))
    .optional()
    .describe(
      'What the price is multiplied by when a request asks for more than the standard, such as "speed=fast" = 6. The message of a refusal names the term.',
    ),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** Prices by model name; a name may end in `*`. The most exact name wins. */
export interface PriceTable {
  /** When the prices were looked up, as YYYY-MM-DD; shown with every cost. */
  readonly date: string;
  readonly prices: Readonly<Record<string, ModelPrice>>;
}
