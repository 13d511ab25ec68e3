/** The queue: tasks that each get a box of their own, so many at a time. Loads no schema. */
import type { QueuedTask } from "./api/schemas/queue.ts";

export const defaultAtOnce = 2;
export const mostAtOnce = 16;
/** Of one person, with those that have ended and are still listed. */
export const mostQueued = 500;

export const isOver = ({ state }: Pick<QueuedTask, "state">): boolean =>
  state === "ended" || state === "refused";

/** Those whose work a person looks at next. */
export const toReview = <T extends QueuedTask>(tasks: readonly T[]): T[] =>
  tasks.filter(
    ({ state, box, isBoxThere, changedFiles }) =>
      state === "ended" && box !== undefined && isBoxThere && changedFiles !== 0,
  );
