/** The disk space of boxes and of the parts they share. */
import { z } from "zod";

/** `null` where it could not be counted in time. */
const CountedBytes = z.int().nullable();

export const BoxDisk = z.object({
  name: z.string(),
  phase: z.string(),
  canPrune: z.boolean().describe("Whether `prune` would remove it."),
  bytes: z.object({
    home: CountedBytes,
    caches: CountedBytes.describe("Part of the home."),
    workspace: CountedBytes,
    logs: CountedBytes,
    review: CountedBytes,
  }),
  totalBytes: z.int(),
});
export type BoxDisk = z.infer<typeof BoxDisk>;

export const DiskAnswer = z.object({
  boxes: z.array(BoxDisk).describe("The largest first."),
  shared: z.array(z.object({ name: z.string(), bytes: CountedBytes })),
  totalBytes: z.int(),
  prunableBytes: z.int(),
  freeBytes: z.int().describe("Free on the disk that holds the boxes."),
});
export type DiskAnswer = z.infer<typeof DiskAnswer>;
