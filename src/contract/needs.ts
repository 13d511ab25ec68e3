/**
 * Everything a box needs a person for: one need for each open question, and at most one for the state of the box. The
 * daemon decides them (core/box/decide-needs.ts), and every count and list of them is made of these. Without zod, for the page.
 */

/** The most urgent first. */
export const needKinds = ["question", "answer", "budget", "stuck", "failed", "review"] as const;
export type NeedKind = (typeof needKinds)[number];

export interface Need {
  readonly kind: NeedKind;
  /** The reason, without the name of the box. Parts of a question are chosen by the box. */
  readonly sentence: string;
  readonly sinceMs: number;
  /** The number of the question. */
  readonly approval?: number | undefined;
}

/** All needs of these boxes: the most urgent first, then the one that has waited longest. */
export function needsOf<Summary extends { readonly needs: readonly Need[] }>(
  boxes: readonly Summary[],
): (Need & { readonly box: Summary })[] {
  return boxes
    .flatMap((box) => box.needs.map((need) => ({ ...need, box })))
    .sort((a, b) => needKinds.indexOf(a.kind) - needKinds.indexOf(b.kind) || a.sinceMs - b.sinceMs);
}
