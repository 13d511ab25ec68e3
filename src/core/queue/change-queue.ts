/** Pausing a queue, and taking, moving and retrying its tasks. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ChangeQueueBody, QueueTotal } from "../../contract/api/schemas/queue.ts";
import type { QueueAnswer } from "../../contract/api/schemas/queue.ts";
import { type TaskRecord, queueKey } from "../../ports/queue-records.ts";
import type { Visibility } from "../access/visibility.ts";
import type { RecordParts, Using } from "../using.ts";
import { decideOrder, isBusy } from "./decide-task.ts";
import { noSuchTask } from "./queue.ts";
import { type QueueViewParts, isTheirTask, listQueue, queueOf } from "./queue-view.ts";

type Parts = Using<RecordParts | QueueViewParts>;

/** The caller's own queue; boxes that run go on. */
export async function changeQueue(
  core: Parts,
  access: Visibility,
  { isPaused, atOnce, total }: ChangeQueueBody,
): Promise<QueueAnswer> {
  const queue = queueOf(access);
  await core.queue.change(async ({ queueOf: settingsOf }) => {
    const { why, ...before } = settingsOf(queue);
    const paused = isPaused ?? before.isPaused;
    const after = {
      ...before,
      isPaused: paused,
      atOnce: atOnce ?? before.atOnce,
      ...(total === undefined ? {} : { total: totalOf(total, core.ports.clock.nowMs()) }),
      ...(paused && isPaused === undefined && why !== undefined ? { why } : {}),
    };
    const data = { queue, isPaused: after.isPaused, atOnce: after.atOnce, ...omitUndefined({ total }) };
    await core.commit({ queue: [after], events: [core.event("queue.changed", undefined, data)] });
  });
  return listQueue(core, access);
}

const totalOf = (total: QueueTotal, sinceMs: number) =>
  total.tokens === undefined && total.usd === undefined ? undefined : { ...total, sinceMs };

export async function removeTasks(
  core: Parts,
  access: Visibility,
  ids: readonly number[],
): Promise<QueueAnswer> {
  await core.queue.change(async ({ tasks }) => {
    const meant = ids.map((id) => getTask(access, tasks, id));
    const busy = meant.find(isBusy);
    if (busy !== undefined) throw stillRuns(busy);
    for (const { id } of meant) core.queue.forget(id);
    const events = meant.map(({ id, queue, state }) =>
      core.event("queue.removed", undefined, { task: id, queue, state }),
    );
    await core.commit({ unqueue: meant.map((task) => queueKey(task)), events });
  });
  return listQueue(core, access);
}

/** At the end of the queue, as what it was added as and by whom: a retry can do no more than the first try. */
export async function retryTasks(
  core: Parts,
  access: Visibility,
  ids: readonly number[],
): Promise<QueueAnswer> {
  await core.queue.change(async ({ tasks }) => {
    const meant = ids.map((id) => getTask(access, tasks, id));
    const open = meant.find(({ state }) => state !== "ended" && state !== "refused");
    if (open !== undefined) throw notOver(open);
    const last = Math.max(0, ...tasks.map(({ order }) => order));
    const again = meant.map(
      ({ kind, id, queue, by, request, task, timeoutMs, agent, addedAtMs }, index): TaskRecord => ({
        kind,
        id,
        queue,
        by,
        request,
        task,
        timeoutMs,
        agent,
        addedAtMs,
        order: last + 1 + index,
        state: "waiting",
      }),
    );
    const events = again.map(({ id, queue }) => core.event("queue.retried", undefined, { task: id, queue }));
    await core.commit({ queue: again, events });
  });
  return listQueue(core, access);
}

export async function moveTask(
  core: Parts,
  access: Visibility,
  { id, before }: { readonly id: number; readonly before?: number | undefined },
): Promise<QueueAnswer> {
  await core.queue.change(async ({ tasks }) => {
    const task = getTask(access, tasks, id);
    if (task.state !== "waiting") throw hasStarted(task);
    const own = tasks.filter(({ queue }) => queue === task.queue);
    if (before !== undefined && !own.some((one) => one.id === before)) throw noSuchTask(before);
    const data = { task: id, queue: task.queue, before };
    await core.commit({
      queue: decideOrder(own, task, before),
      events: [core.event("queue.moved", undefined, data)],
    });
  });
  return listQueue(core, access);
}

/** SECURITY: a task of another person looks as if it did not exist. */
function getTask(access: Visibility, tasks: readonly TaskRecord[], id: number): TaskRecord {
  const task = tasks.find((one) => one.id === id);
  if (task === undefined || !isTheirTask(access, task)) throw noSuchTask(id);
  return task;
}

const stillRuns = ({ id, box }: TaskRecord): AgentBoxError =>
  new AgentBoxError("queue.busy", `Task ${id} is running.`, {
    hint: `Stop its box first: agentbox stop ${box ?? "BOX"}`,
  });

const notOver = ({ id, state }: TaskRecord): AgentBoxError =>
  new AgentBoxError("queue.busy", `Task ${id} has not ended: it is ${state}.`, {
    hint: "Only a task that has ended can be tried again.",
  });

const hasStarted = ({ id }: TaskRecord): AgentBoxError =>
  new AgentBoxError("queue.busy", `Task ${id} has started already.`, {
    hint: "Only tasks that wait can be moved: agentbox queue ls",
  });
