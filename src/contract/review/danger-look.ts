import { z } from "zod";
import { DangerKind } from "./danger.ts";

/** A kind of danger in a review, and whether the caller has looked at exactly this content of it. */
export const DangerLook = z.object({
  kind: DangerKind,
  content: z.string().max(64).describe("Names the content of all dangers of this kind."),
  isLooked: z.boolean(),
});
export type DangerLook = z.infer<typeof DangerLook>;

/** The dangers of a box's work that one caller has looked at: the content of each kind. */
export interface DangerMarks {
  readonly box: string;
  readonly incarnation: string;
  readonly who: string;
  readonly kinds: Readonly<Partial<Record<DangerKind, string>>>;
  readonly atMs: number;
  /** Where it is kept; there are few places, and the oldest makes room. */
  readonly slot: number;
}
