import { z } from "zod";
import { BoxName } from "../../box.ts";
import { RemovedBox, UnmergedWork } from "../../review/removed.ts";

export const UnmergedAnswer = UnmergedWork.extend({
  keepDays: z.int().describe("Days for which the work of a removed box is kept; 0: not at all."),
});

export const RemoveBoxQuery = z.object({
  force: z
    .stringbool()
    .default(false)
    .describe("Also when it is running, or has work that has not been merged."),
  keep: z.stringbool().default(true).describe("Whether its work is kept for a while."),
});

export const RemoveBoxAnswer = z.object({
  removed: RemovedBox.optional().describe("What is kept and can be restored; absent when that is nothing."),
});

export const ListRemovedAnswer = z.object({ removed: z.array(RemovedBox) });

export const RestoreRemovedBody = z.strictObject({
  as: BoxName.optional().describe("Name of the box; without it the one it had, or the next that is free."),
});

export const PruneBody = z.strictObject({
  olderThanMs: z.int().min(0).default(0),
  isDryRun: z.boolean().default(false),
  force: z.boolean().default(false).describe("Also boxes with work that has not been merged."),
});

export const PruneAnswer = z.object({
  removed: z.array(z.string()),
  unmerged: z
    .array(UnmergedWork.extend({ name: z.string() }))
    .describe("Boxes with work that has not been merged; without `force` they stay."),
  freedBytes: z.int(),
});
export type PruneAnswer = z.infer<typeof PruneAnswer>;
