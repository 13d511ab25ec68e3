/** Pure decisions about the queue: what a task's box means for it, which tasks start next, and where one is moved to. */
import type { Box } from "../../contract/box.ts";
import type { QueueTotal } from "../../contract/api/schemas/queue.ts";
import type { UsageTotals } from "../../contract/model/usage.ts";
import type { QueueRecord, TaskRecord } from "../../ports/queue-records.ts";

export type TaskChange = Pick<TaskRecord, "state"> & Partial<Pick<TaskRecord, "verdict" | "why">>;

/** Takes a turn of its queue. A frozen box takes none: it may wait for a person for days. */
export const isBusy = ({ state }: Pick<TaskRecord, "state">): boolean =>
  state === "starting" || state === "running";

/** The state of a started task, as its box tells it. */
export function decideTask(
  task: Pick<TaskRecord, "incarnation">,
  box: Box | undefined,
  isOutOfBudget: boolean,
): TaskChange {
  if (box === undefined || box.incarnation !== task.incarnation)
    return { state: "ended", verdict: "interrupted", why: "Its box was removed." };
  const { run, state } = box;
  if (run?.verdict !== undefined) return { state: "ended", verdict: run.verdict, why: run.why };
  if (state.phase === "failed" || state.phase === "stopped" || state.phase === "removing")
    return { state: "ended", verdict: "failed", why: "Its box ended before it was done." };
  if (state.phase === "paused" && isOutOfBudget)
    return { state: "held", why: "Its budget is used up; it goes on when you raise it." };
  return { state: "running", why: undefined };
}

/** The tasks that start now, in their order. */
export function decideNext(tasks: readonly TaskRecord[], { atOnce, isPaused }: QueueRecord): TaskRecord[] {
  if (isPaused) return [];
  const free = Math.max(0, atOnce - tasks.filter(isBusy).length);
  return inOrder(tasks.filter(({ state }) => state === "waiting")).slice(0, free);
}

/** Why no further task starts; undefined while there is something left. */
export function usedUp(
  { tokens, usd }: QueueTotal,
  sums: readonly Pick<UsageTotals, "usage" | "costMicroUsd">[],
): string | undefined {
  const usedTokens = sums.reduce((all, { usage }) => all + usage.input + usage.output, 0);
  const usedUsd = sums.reduce((all, { costMicroUsd }) => all + costMicroUsd, 0) / 1e6;
  if (tokens !== undefined && usedTokens >= tokens)
    return `Its tasks have used ${usedTokens} of ${tokens} tokens together.`;
  if (usd !== undefined && usedUsd >= usd)
    return `Its tasks have used $${usedUsd.toFixed(2)} of $${usd.toFixed(2)} together.`;
  return undefined;
}

export const inOrder = (tasks: readonly TaskRecord[]): TaskRecord[] =>
  [...tasks].sort((a, b) => a.order - b.order || a.id - b.id);

/** The waiting tasks with one of them before another, or at the end; numbered anew, so that no order is used up. */
export function decideOrder(
  tasks: readonly TaskRecord[],
  moved: TaskRecord,
  beforeId: number | undefined,
): TaskRecord[] {
  const others = inOrder(tasks.filter(({ state, id }) => state === "waiting" && id !== moved.id));
  const at = beforeId === undefined ? -1 : others.findIndex(({ id }) => id === beforeId);
  const position = at === -1 ? others.length : at;
  const sorted = [...others.slice(0, position), moved, ...others.slice(position)];
  const first = Math.min(moved.order, ...others.map(({ order }) => order));
  return sorted.map((task, index) => ({ ...task, order: first + index }));
}
