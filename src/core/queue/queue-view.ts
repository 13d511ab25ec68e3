/** The queue as a caller sees it: their own tasks, or everyone's for the owner and admins. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import { isOfHost } from "../../contract/access/principal.ts";
import type { QueueAnswer, QueuedTask } from "../../contract/api/schemas/queue.ts";
import type { TaskRecord } from "../../ports/queue-records.ts";
import { holderOf } from "../access/keep-tokens.ts";
import type { Visibility } from "../access/visibility.ts";
import type { Using } from "../using.ts";
import { inOrder } from "./decide-task.ts";

export type QueueViewParts = "access" | "facts" | "queue" | "store";

/** Whose queue a caller adds to: a person's own, or the owner's. */
export function queueOf(access: Visibility): string {
  const holder = holderOf(access);
  return holder.kind === "person" ? holder.person : "";
}

/** SECURITY: a member sees and changes their own tasks only. */
export const isTheirTask = (access: Visibility, { queue }: TaskRecord): boolean =>
  isOfHost(access.principal) || queue === queueOf(access);

export async function listQueue(core: Using<QueueViewParts>, access: Visibility): Promise<QueueAnswer> {
  const { tasks, queueOf: settingsOf } = await core.queue.read();
  const seen = tasks.filter((task) => isTheirTask(access, task));
  const over = seen.filter(({ endedAtMs }) => endedAtMs !== undefined);
  const rest = seen.filter(({ endedAtMs }) => endedAtMs === undefined);
  const running = inOrder(rest.filter(({ state }) => state !== "waiting"));
  const sorted = [
    ...over.sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0)),
    ...running,
    ...inOrder(rest.filter(({ state }) => state === "waiting")),
  ];
  const boxes = (await core.ports.store.listBoxes()).filter((box) =>
    sorted.some((task) => task.incarnation === box.incarnation),
  );
  await core.facts.ready(boxes);
  const { atOnce, isPaused, why, total } = settingsOf(queueOf(access));
  const limit = total && omitUndefined({ tokens: total.tokens, usd: total.usd });
  return {
    settings: { atOnce, isPaused, ...omitUndefined({ why, total: limit }) },
    tasks: sorted.map((task): QueuedTask => {
      const box = boxes.find(({ incarnation }) => incarnation === task.incarnation);
      const { id, task: text, agent, state, verdict, addedAtMs, startedAtMs, endedAtMs } = task;
      const person = task.queue === "" ? undefined : (core.access.findPerson(task.queue)?.name ?? "somebody");
      return {
        id,
        task: text,
        agent,
        state,
        isBoxThere: box !== undefined,
        isYours: task.queue === queueOf(access),
        addedAtMs,
        ...omitUndefined({
          projectDir: task.request.projectDir,
          name: task.request.name,
          box: task.incarnation === undefined ? undefined : task.box,
          changedFiles: box && core.facts.of(box).changedFiles,
          verdict,
          why: task.why,
          person,
          startedAtMs,
          endedAtMs,
        }),
      };
    }),
  };
}
