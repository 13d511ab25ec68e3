/** Requests about the queue. A task is a box that is made later, so it takes what making one takes. */
import { z } from "zod";
import { QueueSettings, mostAtOnce } from "../../queue.ts";
import { CreateBox, StartRun } from "../schemas.ts";

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
});
export type ChangeQueueBody = z.infer<typeof ChangeQueueBody>;

export const QueuedTasksBody = z.strictObject({ ids: z.array(Id).min(1).max(500) });

export const MoveQueuedTaskBody = z.strictObject({
  id: Id,
  before: Id.optional().describe("The waiting task that comes after it; without one it goes to the end."),
});
