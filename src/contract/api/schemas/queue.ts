/** The queue, and requests about it. A task is a box that is made later, so it takes what making one takes. */
import { z } from "zod";
import { Verdict } from "../../agent-events.ts";
import { mostAtOnce } from "../../queue.ts";
import { CreateBox, StartRun } from "../schemas.ts";

/**
 * `waiting`: for its turn. `starting`: its box is being made. `held`: its budget is used up, and its box is frozen.
 * `ended`: its agent has ended, as the verdict says. `refused`: its box could not be made.
 */
export const QueueState = z.enum(["waiting", "starting", "running", "held", "ended", "refused"]);
export type QueueState = z.infer<typeof QueueState>;

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

/** What the tasks of a queue may use together, from the moment that it was set. */
export const QueueTotal = z.strictObject({
  tokens: z.int().min(1).max(1e12).optional(),
  usd: z.number().positive().max(1e6).optional(),
});
export type QueueTotal = z.infer<typeof QueueTotal>;

/** The settings of a person's queue. */
export const QueueSettings = z.object({
  atOnce: z.int().describe("How many of its tasks run at a time."),
  isPaused: z.boolean().describe("Whether no further task is started."),
  why: z.string().optional().describe("Why it is paused, where that was not a person."),
  total: QueueTotal.optional().describe("When its tasks have used so much, no further one starts."),
});
export type QueueSettings = z.infer<typeof QueueSettings>;

export const QueueAnswer = z.object({
  settings: QueueSettings.describe("Of the caller's own queue."),
  tasks: z.array(QueuedTask).describe("In the order in which they run; those that have ended, first."),
});
export type QueueAnswer = z.infer<typeof QueueAnswer>;

const AtOnce = z
  .int()
  .min(1)
  .max(mostAtOnce)
  .describe(QueueSettings.shape.atOnce.description ?? "");
const Id = z.coerce.number().int().positive();

export const AddToQueueBody = CreateBox.pick({
  projectDir: true,
  manifest: true,
  variables: true,
  trust: true,
}).extend({
  tasks: z
    .array(
      CreateBox.pick({ name: true, flags: true }).extend({
        task: StartRun.shape.task.unwrap().min(1),
        timeoutMs: StartRun.shape.timeoutMs,
      }),
    )
    .min(1)
    .max(200)
    .describe("Each with a partial manifest of its own: agent, budget and all the rest."),
  atOnce: AtOnce.optional(),
});
export type AddToQueueBody = z.infer<typeof AddToQueueBody>;

export const ChangeQueueBody = z.strictObject({
  isPaused: z
    .boolean()
    .optional()
    .describe(QueueSettings.shape.isPaused.description ?? ""),
  atOnce: AtOnce.optional(),
  total: QueueTotal.optional().describe("Counts from now on; without a limit in it, there is none any more."),
});
export type ChangeQueueBody = z.infer<typeof ChangeQueueBody>;

export const QueuedTasksBody = z.strictObject({ ids: z.array(Id).min(1).max(500) });

export const MoveQueuedTaskBody = z.strictObject({
  id: Id,
  before: Id.optional().describe("The waiting task that comes after it; without one it goes to the end."),
});
