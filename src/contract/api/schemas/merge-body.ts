/** How work lands: the request of a merge, which that of a push extends. */
import { z } from "zod";
import { DangerKind } from "../../review/danger.ts";
import { MergeMode } from "../../review/merge.ts";

export const MergeBody = z.strictObject({
  mode: MergeMode.default("squash"),
  message: z.string().max(16_384).optional(),
  accept: z.array(DangerKind).max(64).default([]).describe("Kinds of danger that a person has looked at."),
  digest: z
    .string()
    .max(128)
    .optional()
    .describe(
      "Of the review that was looked at; another state is refused. Without it: what the caller was last shown.",
    ),
  skipsChecks: z.boolean().default(false),
});
