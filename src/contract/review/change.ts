import { z } from "zod";

/** Modes as git has them: a file, one that can be executed, a link, another repository, or nothing there. */
export const FileMode = z.enum(["000000", "100644", "100755", "120000", "160000"]);
export type FileMode = z.infer<typeof FileMode>;

/** One path that differs between two checkpoints. */
export const Change = z.object({
  /** As git has it, with bytes that are no UTF-8 replaced for showing; `rawPath` has them in hexadecimal then. */
  path: z.string(),
  rawPath: z.string().optional(),
  oldPath: z.string().optional().describe("Before it was renamed or copied."),
  kind: z.enum(["added", "modified", "deleted", "renamed", "copied", "type_changed"]),
  oldMode: FileMode,
  newMode: FileMode,
  oldId: z.string().describe("Object id before; zeros when there was none."),
  newId: z.string(),
  isBinary: z.boolean(),
  added: z.int().min(0).describe("Lines."),
  deleted: z.int().min(0),
  bytes: z.int().min(0).describe("Size of the new content."),
});
export type Change = z.infer<typeof Change>;

export const ChangeTotals = z.object({
  files: z.int(),
  added: z.int(),
  deleted: z.int(),
});
export type ChangeTotals = z.infer<typeof ChangeTotals>;
