import { z } from "zod";

const LimitEntry = z.strictObject({
  tokens: z
    .int()
    .min(1)
    .max(1_000_000_000_000)
    .optional()
    .describe("Most tokens, input and output together."),
  usd: z
    .number()
    .min(0.000_001)
    .max(1_000_000)
    .optional()
    .describe("Most money in US dollars. A model without a known price is refused then."),
});

export const BudgetSection = z
  .strictObject({
    run: LimitEntry.optional().describe("From one start of the box to its end."),
    box: LimitEntry.optional().describe("The whole life of the box."),
    day: LimitEntry.optional().describe(
      "A day (UTC): of all boxes of the project, or in the user config of all boxes.",
    ),
    tree: LimitEntry.optional().describe("The box and all boxes below it by name."),
  })
  .describe("What may be spent on models. Limits of the user config and of the project all hold.");
export type BudgetSection = z.infer<typeof BudgetSection>;
