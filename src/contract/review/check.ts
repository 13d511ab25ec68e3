import { z } from "zod";

/** A command of the manifest that must pass in a fresh box before the work lands. */
export const CheckSpec = z.strictObject({
  name: z.string(),
  argv: z.array(z.string()).min(1),
  timeoutMs: z.int().positive(),
});
export type CheckSpec = z.infer<typeof CheckSpec>;

export const CheckResult = z.object({
  name: z.string(),
  /** The tree that was checked: results of another one do not count. */
  tree: z.string(),
  status: z.enum(["passed", "failed", "timed_out", "error"]),
  exitCode: z.int().optional(),
  durationMs: z.int().min(0),
  atMs: z.int(),
  /** The end of its output. */
  output: z.string().max(16_384),
});
export type CheckResult = z.infer<typeof CheckResult>;
