/** The facts that the fleet view and the resources page of a box show besides the records. */
import { z } from "zod";

const ResourceSample = z.object({
  atMs: z.int(),
  cpuPercent: z.number().min(0).describe("Of one processor: 250 is two and a half."),
  memoryBytes: z.int().min(0),
  processes: z.int().min(0),
  diskBytes: z.int().min(0).optional().describe("Home and workspace; measured seldom."),
});
export type ResourceSample = z.infer<typeof ResourceSample>;

export const ResourcesAnswer = z.object({
  samples: z.array(ResourceSample).describe("Oldest first, a few seconds apart. Empty when the box is down."),
  memoryLimitBytes: z.int().optional(),
  cpus: z.number().optional().describe("How many processors it may use."),
});
export type ResourcesAnswer = z.infer<typeof ResourcesAnswer>;
