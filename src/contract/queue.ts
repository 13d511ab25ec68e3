/** The queue: tasks that each get a box of their own, so many at a time. */
import { z } from "zod";
import { Verdict } from "./agent-events.ts";

/**
 * `waiting`: for its turn. `starting`: its box is being made. `held`: its budget is used up, and its box is frozen.
 * `ended`: its agent has ended, as the verdict says. `refused`: its box could not be made.
 */
export const QueueState = z.enum(["waiting", "starting", "running", "held", "ended", "refused"]);
export type QueueState = z.infer<typeof QueueState>;

export const defaultAtOnce = 2;
export const mostAtOnce = 16;
/** Of one person, with those that have ended and are still listed. */
export const mostQueued = 500;

export const QueuedTask = z.object({
  id: z.int().describe("Its number in the queue."),
  task: z.string(),
  agent: z.string(),
  projectDir: z.string().optional(),
  state: QueueState,
  name: z.string().optional().describe("The name that its box is to have."),
  box: z.string().optional().describe("Its box, once there is one."),
  isBoxThere: z.boolean().describe("Whether that box can still be looked at."),
  changedFiles: z.int().optional().describe("How many files its agent has changed."),
  verdict: Verdict.optional(),
  why: z.string().optional().describe("Why it ended, is held or was refused."),
  person: z.string().optional().describe("Who added it; absent for the owner's own."),
  isYours: z.boolean(),
  addedAtMs: z.int(),
  startedAtMs: z.int().optional(),
  endedAtMs: z.int().optional(),
});
export type QueuedTask = z.infer<typeof QueuedTask>;

/** The settings of a person's queue. */
export const QueueSettings = z.object({
  atOnce: z.int().describe("How many of its tasks run at a time."),
  isPaused: z.boolean().describe("Whether no further task is started."),
  why: z.string().optional().describe("Why it is paused, where that was not a person."),
});
export type QueueSettings = z.infer<typeof QueueSettings>;

export const QueueAnswer = z.object({
  settings: QueueSettings.describe("Of the caller's own queue."),
  tasks: z.array(QueuedTask).describe("In the order in which they run; those that have ended, first."),
});
export type QueueAnswer = z.infer<typeof QueueAnswer>;

export const isOver = ({ state }: Pick<QueuedTask, "state">): boolean =>
  state === "ended" || state === "refused";

/** Those whose work a person looks at next. */
export const toReview = <T extends QueuedTask>(tasks: readonly T[]): T[] =>
  tasks.filter(
    ({ state, box, isBoxThere, changedFiles }) =>
      state === "ended" && box !== undefined && isBoxThere && changedFiles !== 0,
  );
