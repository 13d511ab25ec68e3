import { z } from "zod";
import { ExceptionName, FeatureName, PathText, Size, Word } from "./scalars.ts";

export const SecurityExceptionEntry = z
  .strictObject({
    reason: z.string().min(8).max(500).describe("Why the work needs it; the person who is asked reads this."),
    feature: FeatureName.optional().describe(
      "The exception holds only where runtime.features has this name. Without it: always.",
    ),
    devices: z
      .array(PathText)
      .max(16)
      .optional()
      .describe("Device files of the host, such as /dev/kvm. Needs a container runtime."),
    tmpfs: z
      .record(PathText, Size.describe("Most memory it can take."))
      .optional()
      .describe("More directories that are kept in memory, by their path, with their size."),
    capabilities: z
      .array(Word)
      .max(8)
      .optional()
      .describe("Linux capabilities, such as IPC_LOCK. Needs a container runtime."),
    gpus: z
      .int()
      .min(1)
      .max(64)
      .optional()
      .describe("How many graphics processors. Needs a container runtime."),
  })
  .describe("Something beyond the baseline of every box. Asks for trust.");
export type SecurityExceptionEntry = z.infer<typeof SecurityExceptionEntry>;

export const SecuritySection = z
  .strictObject({
    exceptions: z
      .record(ExceptionName, SecurityExceptionEntry)
      .optional()
      .describe("What the box has beyond the baseline, each under its name."),
  })
  .describe(
    "Exceptions from the baseline that every box has. They add something by name and with a reason; nothing of the baseline can be taken away.",
  );

export const maxExceptions = 32;
