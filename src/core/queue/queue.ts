/**
 * Starts the tasks of each person's queue, so many at a time, and notes how they end. All of it is in the store, so a
 * restart of the daemon goes on where it was. A day's budget that is used up pauses the queue: the next task would only
 * be frozen, too.
 */
import { AgentBoxError, isAgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { BoxEvent, NewEvent } from "../../contract/events.ts";
import { defaultAtOnce, mostQueued } from "../../contract/queue.ts";
import type { QueueRecord, TaskRecord } from "../../ports/queue-records.ts";
import { proposeName } from "../box/box-names.ts";
import type { RecordParts, Using } from "../using.ts";
import { type TaskChange, decideNext, decideTask, isBusy, usedUp } from "./decide-task.ts";

/** Not the name of a box, which has a lock of its own. */
const lock = "/queue";
/** Where two make a box at the same moment, one of them takes another name. */
const mostStarts = 3;

/** Makes the box of a task; throws where it may not be made now. */
export type StartTask = (task: TaskRecord, variables: Readonly<Record<string, string>>) => Promise<Box>;

interface Entries {
  readonly tasks: readonly TaskRecord[];
  readonly queueOf: (queue: string) => QueueRecord;
}

const newQueue = (queue: string): QueueRecord => ({
  kind: "queue",
  queue,
  atOnce: defaultAtOnce,
  isPaused: false,
  lastId: 0,
});

export class Queue {
  readonly #core: Using<RecordParts | "background" | "budgets" | "locked" | "onEvent">;
  /** SECURITY: values of a shell's variables may be keys; they are never written down. */
  readonly #variables = new Map<number, Readonly<Record<string, string>>>();
  #start: StartTask | undefined;

  constructor(core: Using<RecordParts | "background" | "budgets" | "locked" | "onEvent">) {
    this.#core = core;
  }

  /** From now on, and with what an earlier daemon left. Returns the way to stop. */
  start(startTask: StartTask): () => void {
    this.#start = startTask;
    const stop = this.#core.onEvent((event) => this.#hear(event));
    this.#core.background("going on with the queue", this.#recover());
    return () => {
      this.#start = undefined;
      stop();
    };
  }

  async read(): Promise<Entries> {
    const entries = await this.#core.ports.store.listQueue();
    const queues = entries.filter((entry) => entry.kind === "queue");
    return {
      tasks: entries.filter((entry) => entry.kind === "task"),
      queueOf: (queue) => queues.find((one) => one.queue === queue) ?? newQueue(queue),
    };
  }

  /** One change after the other; then the tasks start whose turn it is. */
  async change<T>(edit: (entries: Entries) => Promise<T>): Promise<T> {
    const result = await this.#core.locked(lock, async () => edit(await this.read()));
    this.#goOn();
    return result;
  }

  /** Numbers are not given twice, in no queue. */
  nextId({ queueOf }: Entries): number {
    return queueOf("").lastId + 1;
  }

  keepVariables(id: number, variables: Readonly<Record<string, string>>): void {
    if (Object.keys(variables).length > 0) this.#variables.set(id, variables);
  }

  forget(id: number): void {
    this.#variables.delete(id);
  }

  #goOn(): void {
    if (this.#start !== undefined) this.#core.background("starting queued tasks", this.#startNext());
  }

  async #startNext(): Promise<void> {
    await this.#core.locked(lock, async () => {
      const { tasks, queueOf } = await this.read();
      for (const queue of new Set(tasks.map((task) => task.queue))) {
        const own = tasks.filter((task) => task.queue === queue);
        const next = decideNext(own, queueOf(queue));
        if (next.length > 0 && (await this.#isUsedUp(queueOf(queue), own))) continue;
        for (const task of next) await this.#begin(task);
      }
    });
  }

  /** Whether the tasks have used what they may together; the queue is paused then, with the reason. */
  async #isUsedUp(settings: QueueRecord, tasks: readonly TaskRecord[]): Promise<boolean> {
    const { total } = settings;
    if (total === undefined) return false;
    const sums = await Promise.all(
      tasks.flatMap(({ box, incarnation }) =>
        box === undefined || incarnation === undefined
          ? []
          : this.#core.ports.store.sumModel({ box, incarnation, fromMs: total.sinceMs }),
      ),
    );
    const why = usedUp(total, sums);
    if (why === undefined) return false;
    await this.#pause(settings, why);
    return true;
  }

  async #pause(settings: QueueRecord, why: string): Promise<void> {
    const data = { queue: settings.queue, isPaused: true, why };
    await this.#core.commit({
      queue: [{ ...settings, isPaused: true, why }],
      events: [this.#core.event("queue.changed", undefined, data)],
    });
  }

  /** Its name is written down before its box is made, so that a crash in between makes no second one. */
  async #begin(task: TaskRecord): Promise<void> {
    const { incarnation: _old, verdict: _verdict, why: _why, endedAtMs: _ended, ...rest } = task;
    const startedAtMs = this.#core.ports.clock.nowMs();
    const starting: TaskRecord = { ...rest, state: "starting", box: await this.#freeName(task), startedAtMs };
    await this.#core.commit({ queue: [starting], events: [] });
    this.#core.background("starting a queued task", this.#launch(starting, 1));
  }

  /** The name that was asked for, with a number where a box has it by now. */
  async #freeName({ request: { name, projectDir }, agent }: TaskRecord): Promise<string> {
    const starting = (await this.read()).tasks.filter(({ state }) => state === "starting");
    const boxes = await this.#core.ports.store.listBoxes();
    const taken = new Set([...boxes.map((box) => box.name), ...starting.map(({ box }) => box)]);
    const project = projectDir?.split("/").at(-1);
    if (name === undefined) return proposeName(project, agent, (one) => taken.has(one));
    for (let number = 1; ; number += 1) {
      const numbered = number === 1 ? name : `${name}-${number}`;
      if (!taken.has(numbered)) return numbered;
    }
  }

  async #launch(task: TaskRecord, tries: number): Promise<void> {
    try {
      if (this.#start === undefined) return;
      const box = await this.#start(task, this.#variables.get(task.id) ?? {});
      await this.#settle(task.id, { state: "running" }, box);
    } catch (error) {
      if (isAgentBoxError(error, "box.name_taken") && tries < mostStarts)
        return this.#launch({ ...task, box: await this.#freeName(task) }, tries + 1);
      const { message, hint } = toAgentBoxError(error);
      const why = [message, hint].filter(Boolean).join(" ");
      await this.#settle(task.id, { state: "refused", why });
    }
  }

  #hear({ box, type, data }: BoxEvent): void {
    if (box === undefined) return;
    if (news.has(type)) this.#core.background("looking at a queued task", this.#look(box));
    if (type === "budget.exhausted" && data["scope"] === "day")
      this.#core.background("pausing the queue", this.#pauseFor(box));
  }

  async #look(name: string): Promise<void> {
    const { tasks } = await this.read();
    const task = tasks.find((one) => one.box === name && (one.state === "running" || one.state === "held"));
    if (task !== undefined) await this.#settle(task.id, { state: "running" });
  }

  /** Writes down how a task is doing; `box` is given once, when it was made. */
  async #settle(id: number, change: TaskChange, box?: Box): Promise<void> {
    await this.#core.locked(lock, async () => {
      const { tasks } = await this.read();
      const before = tasks.find((task) => task.id === id);
      if (before === undefined) return;
      const task: TaskRecord = box ? { ...before, box: box.name, incarnation: box.incarnation } : before;
      const now = change.state === "running" ? await this.#lookAt(task) : change;
      if (now.state === before.state && box === undefined) return;
      const isOver = now.state === "ended" || now.state === "refused";
      const { why: _why, ...rest } = task;
      const after: TaskRecord = {
        ...rest,
        ...omitUndefined(now),
        ...(isOver ? { endedAtMs: this.#core.ports.clock.nowMs() } : {}),
      };
      if (isOver) this.forget(id);
      await this.#core.commit({ queue: [after], events: eventsOf(this.#core, after, box !== undefined) });
      if (isOver) await this.#noteEnd(after);
    });
    this.#goOn();
  }

  async #lookAt(task: TaskRecord): Promise<TaskChange> {
    const box = task.box === undefined ? undefined : await this.#core.ports.store.findBox(task.box);
    const isOutOfBudget = box?.state.phase === "paused" && (await this.#core.budgets.isExhausted(box));
    return decideTask(task, box, isOutOfBudget);
  }

  /** The end of a queue is an event of its own, with what there is to look at. */
  async #noteEnd({ queue }: TaskRecord): Promise<void> {
    const own = (await this.read()).tasks.filter((task) => task.queue === queue);
    if (own.some((task) => task.state === "waiting" || isBusy(task))) return;
    const ended = own.filter(({ state }) => state === "ended");
    const facts = {
      ended: ended.length,
      refused: own.filter(({ state }) => state === "refused").length,
      held: own.filter(({ state }) => state === "held").length,
      boxes: ended.flatMap(({ box }) => (box === undefined ? [] : [box])).slice(-50),
    };
    const events = [this.#core.event("queue.drained", undefined, { queue, ...facts })];
    await this.#core.commit({ events, unqueue: tooOld(own).map(({ id }) => `task:${id}`) });
  }

  async #pauseFor(box: string): Promise<void> {
    await this.#core.locked(lock, async () => {
      const { tasks, queueOf } = await this.read();
      const task = tasks.find((one) => one.box === box && (isBusy(one) || one.state === "held"));
      if (task === undefined || queueOf(task.queue).isPaused) return;
      await this.#pause(queueOf(task.queue), "The budget of today is used up.");
    });
  }

  /** A box that was being made when the daemon ended is there whole, or not at all. */
  async #recover(): Promise<void> {
    const { tasks } = await this.read();
    for (const task of tasks.filter((one) => one.state === "starting")) {
      const box = task.box === undefined ? undefined : await this.#core.ports.store.findBox(task.box);
      const isIts =
        box !== undefined && box.createdAtMs >= (task.startedAtMs ?? 0) && box.run?.task === task.task;
      if (isIts) await this.#settle(task.id, { state: "running" }, box);
      else await this.#core.commit({ queue: [{ ...task, state: "waiting", box: undefined }], events: [] });
    }
    for (const task of tasks.filter(({ state }) => state === "running" || state === "held"))
      await this.#settle(task.id, { state: "running" });
    this.#goOn();
  }
}

/** After which a task may be in another state. */
const news: ReadonlySet<string> = new Set([
  "agent.ended",
  "box.died",
  "box.failed",
  "box.paused",
  "box.removed",
  "box.resumed",
  "box.stopped",
]);

const tooOld = (tasks: readonly TaskRecord[]): TaskRecord[] => {
  const over = tasks.filter(({ state }) => state === "ended" || state === "refused");
  return [...over]
    .sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0))
    .slice(0, Math.max(0, tasks.length - mostQueued));
};

function eventsOf(
  core: Using<"event">,
  { id, queue, state, box, incarnation, verdict, why }: TaskRecord,
  isNew: boolean,
): NewEvent[] {
  const named = { ...omitUndefined({ box, incarnation }) };
  const event = (type: Parameters<typeof core.event>[0], data: Record<string, unknown>): NewEvent => ({
    ...core.event(type, undefined, { task: id, queue, ...omitUndefined(data) }),
    ...(state === "refused" ? {} : named),
  });
  const started = isNew ? [event("queue.started", {})] : [];
  if (state === "ended") return [...started, event("queue.ended", { verdict, why })];
  if (state === "held") return [...started, event("queue.held", { why })];
  return state === "refused" ? [event("queue.refused", { reason: why })] : started;
}

export const noSuchTask = (id: number): AgentBoxError =>
  new AgentBoxError("queue.not_found", `There is no task ${id} in the queue.`, {
    hint: "List them: agentbox queue ls",
  });
