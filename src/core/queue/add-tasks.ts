/** Adding to the queue: every task is planned first, and one that could not start refuses all of them. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { AddToQueueBody } from "../../contract/api/schemas/queue.ts";
import type { QueueAnswer } from "../../contract/api/schemas/queue.ts";
import { mostQueued } from "../../contract/queue.ts";
import { refusalOf } from "../../contract/plan.ts";
import type { TaskRecord } from "../../ports/queue-records.ts";
import { holderOf, tokenOf } from "../access/keep-tokens.ts";
import type { Visibility } from "../access/visibility.ts";
import type { BoxPlan } from "../plan/box-plan.ts";
import { planFor } from "../plan/plan-box.ts";
import { recordRefusals } from "../plan/record-refusals.ts";
import { makerOf } from "../team/members.ts";
import { recordYes } from "../trust/grant-trust.ts";
import type { PlanParts, RecordParts, Using } from "../using.ts";
import { type QueueViewParts, listQueue, queueOf } from "./queue-view.ts";

type Parts = Using<PlanParts | RecordParts | QueueViewParts | "access" | "note" | "queue">;

export async function addTasks(core: Parts, access: Visibility, body: AddToQueueBody): Promise<QueueAnswer> {
  const plans = await planAll(core, access, body);
  const queue = queueOf(access);
  const { projectDir, manifest, variables = {}, atOnce } = body;
  const by = {
    holder: holderOf(access),
    credential: access.credential.kind,
    ...omitUndefined({ token: tokenOf(core, access)?.id }),
    mayOrder: access.mayOrder,
  };
  await core.queue.change(async (entries) => {
    const own = entries.tasks.filter((task) => task.queue === queue);
    const open = own.filter(({ state }) => state !== "ended" && state !== "refused");
    requireRoom(open.length + body.tasks.length);
    requireNames(entries.tasks, body);
    const firstId = core.queue.nextId(entries);
    const last = Math.max(0, ...own.map(({ order }) => order));
    const added = body.tasks.map(
      ({ task, name, flags, timeoutMs }, index): TaskRecord => ({
        kind: "task",
        id: firstId + index,
        queue,
        order: last + 1 + index,
        by,
        request: omitUndefined({ name, projectDir, manifest, flags }),
        task,
        ...omitUndefined({ timeoutMs }),
        agent: plans[index]!.spec!.agent.name,
        state: "waiting",
        addedAtMs: core.ports.clock.nowMs(),
      }),
    );
    // The record of the owner's queue has the number, for every queue.
    const counter = { ...entries.queueOf(""), lastId: firstId + added.length - 1 };
    const settings = queue === "" ? counter : entries.queueOf(queue);
    const changed = atOnce === undefined ? settings : { ...settings, atOnce };
    for (const { id } of added) core.queue.keepVariables(id, variables);
    await core.commit({
      queue: [...added, ...(queue === "" ? [changed] : [counter, changed])],
      events: added.map(({ id, agent }) =>
        core.event("queue.added", undefined, { task: id, queue, agent, projectDir }),
      ),
    });
  });
  return listQueue(core, access);
}

/** The plans of all; tasks that differ in their text only share one. */
async function planAll(
  core: Parts,
  access: Visibility,
  { tasks, projectDir, manifest, variables, trust }: AddToQueueBody,
): Promise<BoxPlan[]> {
  const known = new Map<string, BoxPlan>();
  const problems: AgentBoxError[] = [];
  const plans: BoxPlan[] = [];
  for (const { task, name, flags, timeoutMs } of tasks) {
    const key = JSON.stringify([name, flags]);
    const run = { mode: "headless" as const, task, ...omitUndefined({ timeoutMs }), cols: 120, rows: 40 };
    const inputs = { ...omitUndefined({ name, projectDir, manifest, flags, variables, trust }), run };
    const plan = known.get(key) ?? (await planFor(core, { ...inputs, ...makerOf(access), makes: "box" }));
    if (!known.has(key))
      problems.push(
        ...plan.problems.filter(({ message }) => !problems.some((one) => one.message === message)),
      );
    known.set(key, plan);
    plans.push(plan);
  }
  await recordRefusals(core, problems, "addToQueue");
  if (problems.length > 0) throw refusalOf(problems);
  for (const { trust: question } of new Set(known.values()))
    if (question?.isTrusted === false) await recordYes(core, question);
  for (const { spec } of new Set(known.values())) core.ports.modelKeys.remember(spec!.model, variables ?? {});
  return plans;
}

function requireRoom(count: number): void {
  if (count <= mostQueued) return;
  throw new AgentBoxError("input.invalid", `A queue can have at most ${mostQueued} tasks, not ${count}.`, {
    hint: "Add the rest when some of them have ended.",
  });
}

function requireNames(queued: readonly TaskRecord[], { tasks }: AddToQueueBody): void {
  const taken = new Set(
    queued.filter(({ state }) => state === "waiting").flatMap(({ request: { name } }) => name ?? []),
  );
  for (const { name } of tasks) {
    if (name !== undefined && taken.has(name))
      throw new AgentBoxError("box.name_taken", `Two queued tasks are to have a box named "${name}".`, {
        hint: "Give each task a name of its own, or none.",
        facts: { box: name },
      });
    if (name !== undefined) taken.add(name);
  }
}
