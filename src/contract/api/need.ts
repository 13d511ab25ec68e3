import { z } from "zod";
import { needKinds } from "../needs.ts";

export const Need = z.object({
  kind: z.enum(needKinds),
  sentence: z.string(),
  sinceMs: z.int(),
  approval: z.int().optional().describe("The number of the question."),
});
