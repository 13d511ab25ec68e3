/** The queue as a table, and under it what there is to look at. */
import { printable } from "../../base/printable.ts";
import type { QueueAnswer, QueueTotal, QueuedTask } from "../../contract/api/schemas/queue.ts";
import { toReview } from "../../contract/queue.ts";
import { age, plural, renderTable, shorten } from "./table.ts";

const shownReviews = 10;

export function renderQueue(answer: QueueAnswer, nowMs: number): string {
  const { tasks } = answer;
  if (tasks.length === 0)
    return 'No tasks in the queue. Add one: agentbox queue "fix the tests" --agent claude';
  const hasOthers = tasks.some(({ isYours }) => !isYours);
  const rows = tasks.map((task) => [
    String(task.id),
    stateText(task),
    task.agent,
    ...(hasOthers ? [printable(task.person ?? "owner")] : []),
    task.box ?? "-",
    task.changedFiles === undefined ? "-" : String(task.changedFiles),
    timeText(task, nowMs),
    shorten(firstLine(task.task), 60),
  ]);
  const head = ["ID", "STATE", "AGENT", ...(hasOthers ? ["OF"] : []), "BOX", "FILES", "TIME", "TASK"];
  const notes = tasks.flatMap((task) =>
    task.why !== undefined && (task.state === "refused" || task.state === "held")
      ? [`${task.id}: ${printable(task.why)}`]
      : [],
  );
  return [renderTable([head, ...rows]), "", ...notes, ...reviewLines(tasks), renderSummary(answer)].join(
    "\n",
  );
}

export function renderSummary({ settings: { atOnce, isPaused, why, total }, tasks }: QueueAnswer): string {
  const own = tasks.filter(({ isYours }) => isYours);
  const count = (...states: QueuedTask["state"][]): number =>
    own.filter(({ state }) => states.includes(state)).length;
  const text = `${count("running", "starting")} running, ${count("waiting")} waiting; ${atOnce} at a time${totalText(total)}.`;
  if (!isPaused) return text;
  return `${text} Paused${why === undefined ? "" : `: ${why}`} Go on with: agentbox queue resume`.replace(
    "Paused Go",
    "Paused. Go",
  );
}

const totalText = ({ tokens, usd }: QueueTotal = {}): string => {
  const limits = [
    ...(usd === undefined ? [] : [`$${usd.toFixed(2)}`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
  ];
  return limits.length === 0 ? "" : `; ${limits.join(" and ")} for all`;
};

function reviewLines(tasks: readonly QueuedTask[]): string[] {
  const boxes = [...new Set(toReview(tasks).flatMap(({ box }) => box ?? []))];
  if (boxes.length === 0) return [];
  const more = boxes.length - shownReviews;
  return [
    `${plural(boxes.length, "box", "boxes")} to review:`,
    ...boxes.slice(0, shownReviews).map((box) => `  agentbox diff ${box}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

const firstLine = (text: string): string => printable(text.trim().split("\n")[0] ?? "");

function stateText({ state, verdict }: QueuedTask): string {
  if (state === "held") return "out of budget";
  return state === "ended" ? (verdict ?? "ended").replaceAll("_", " ") : state;
}

function timeText({ startedAtMs, endedAtMs }: QueuedTask, nowMs: number): string {
  return startedAtMs === undefined ? "-" : age(startedAtMs, endedAtMs ?? nowMs);
}
