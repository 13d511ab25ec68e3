/** Handlers about the queue. */
import type { queueRoutes } from "../../contract/api/routes/queue.ts";
import { addTasks } from "../../core/queue/add-tasks.ts";
import { changeQueue, moveTask, removeTasks, retryTasks } from "../../core/queue/change-queue.ts";
import { listQueue } from "../../core/queue/queue-view.ts";
import { requireProject } from "../../core/team/members.ts";
import type { Handlers } from "./handlers.ts";

export const queueHandlers: Pick<Handlers, keyof typeof queueRoutes> = {
  listQueue: ({ deps: { core }, access }) => listQueue(core, access),
  async addToQueue({ deps: { core }, access, body }) {
    await requireProject(core, access, body);
    return addTasks(core, access, body);
  },
  changeQueue: ({ deps: { core }, access, body }) => changeQueue(core, access, body),
  removeQueued: ({ deps: { core }, access, body }) => removeTasks(core, access, body.ids),
  retryQueued: ({ deps: { core }, access, body }) => retryTasks(core, access, body.ids),
  moveQueued: ({ deps: { core }, access, body }) => moveTask(core, access, body),
};
