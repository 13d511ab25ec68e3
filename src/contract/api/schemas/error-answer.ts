/** How the API says no: one error, and for a plan every problem of it. */
import { z } from "zod";

const problemShape = {
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  facts: z.record(z.string(), z.unknown()).optional(),
};

/** One reason why a box cannot be made as asked. */
export const Problem = z.object(problemShape);
export type Problem = z.infer<typeof Problem>;

export const ErrorAnswer = z.object({
  error: z.object({
    ...problemShape,
    problems: z
      .array(Problem)
      .optional()
      .describe("Every reason why a box was not made; the error itself repeats the first."),
  }),
});
