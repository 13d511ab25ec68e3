import { z } from "zod";

export const MergeMode = z.enum(["squash", "commits", "patch"]);
export type MergeMode = z.infer<typeof MergeMode>;

/** A path that both sides have changed. Nothing is applied as long as one exists. */
export const MergeConflict = z.object({
  path: z.string(),
  /** In a person's words: both changed it, one deleted it, … */
  what: z.string(),
  /** The beginning of each side, where they are texts. */
  ours: z.string().max(8_192).optional(),
  theirs: z.string().max(8_192).optional(),
});
export type MergeConflict = z.infer<typeof MergeConflict>;

/** A merge that was done, with all that is needed to take it back exactly. */
export const MergeRecord = z.object({
  id: z.int().min(1),
  box: z.string(),
  incarnation: z.string(),
  projectDir: z.string(),
  mode: MergeMode,
  atMs: z.int(),
  /** The branch that was moved; absent for a patch, which only changes files. */
  branch: z.string().optional(),
  /** The checkpoint that was merged; the box's later work is compared with it. */
  commit: z.string(),
  before: z.string(),
  after: z.string(),
  files: z.int(),
  isUndone: z.boolean(),
});
export type MergeRecord = z.infer<typeof MergeRecord>;
