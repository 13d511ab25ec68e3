import { z } from "zod";

/** A remark on a line, for the agent. */
export const ReviewComment = z.object({
  id: z.int().min(1),
  box: z.string(),
  incarnation: z.string(),
  path: z.string(),
  /** In the new content; absent: about the file as a whole. */
  line: z.int().min(1).optional(),
  /** The last line, where it is about more than one. */
  endLine: z.int().min(1).optional(),
  /** Empty only beside a suggestion. */
  text: z.string().max(8_192),
  /** The text that these lines should have; empty text removes them. */
  suggestion: z.string().max(8_192).optional(),
  /** The lines around it when it was written. */
  quoted: z.string().max(4_096),
  atMs: z.int(),
  state: z.enum(["draft", "sent", "resolved"]),
  /** The checkpoint it was written about. */
  checkpoint: z.int().min(0),
});
export type ReviewComment = z.infer<typeof ReviewComment>;
