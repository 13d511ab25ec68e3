/** The state of a box's work: nothing was changed, all of it is merged, or some of it is not. */
export const workStates = ["clean", "merged", "unmerged"] as const;
export type WorkState = (typeof workStates)[number];
