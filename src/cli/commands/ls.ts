import { printable } from "../../base/printable.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import type { Client } from "../../client/index.ts";
import { needsOf } from "../../contract/needs.ts";
import { parseBoxFilter } from "../boxes/box-filter.ts";
import { followBoxes } from "../boxes/follow-boxes.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { type Style, widthOf } from "../render/style.ts";
import { age, renderTable, shorten, tilde } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const isShown = parseBoxFilter(args.list("filter"));
  const client = await context.connect();
  const read = async (): Promise<BoxSummary[]> =>
    (await client.listBoxes()).filter(isShown).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (args.isSet("watch")) return watch(context, client, read);
  const boxes = await read();
  if (screen.isJson) screen.printJson({ boxes });
  else if (args.isSet("quiet")) for (const { name } of boxes) screen.print(name);
  else screen.print(renderList(context, boxes));
  return 0;
};

function renderList({ args, screen, env }: CommandContext, boxes: readonly BoxSummary[]): string {
  if (boxes.length === 0)
    return args.list("filter").length > 0
      ? "No box matches. See all with: agentbox ls"
      : "No boxes yet. Make one with: agentbox run shell";
  const { style, size } = screen;
  const table = renderBoxes(boxes, { nowMs: Date.now(), home: env.userHome, style, width: size.cols });
  const { length: needs } = needsOf(boxes);
  return needs > 0 ? `${table}\n\nNeeds you: ${needs}. See: agentbox inbox` : table;
}

/** On a terminal the list stands still and is drawn anew. Elsewhere: what is there, then a line for every change. */
async function watch(
  context: CommandContext,
  client: Client,
  read: () => Promise<BoxSummary[]>,
): Promise<number> {
  const { args, screen } = context;
  const isDrawn = screen.streams.stdout.isTTY && !screen.isJson && !args.isSet("quiet");
  let before = new Map<string, BoxSummary>();
  for await (const _news of followBoxes(client)) {
    const boxes = await read();
    if (isDrawn) {
      screen.streams.stdout.write("\u001b[H\u001b[2J");
      screen.print(renderList(context, boxes));
      continue;
    }
    const now = new Map(boxes.map((box) => [box.name, box]));
    for (const [name, box] of before) if (!now.has(name)) showChange(context, "removed", box);
    for (const [name, box] of now) {
      const known = before.get(name);
      if (known === undefined) showChange(context, "added", box);
      else if (stateLine(known) !== stateLine(box)) showChange(context, "changed", box);
    }
    before = now;
  }
  return 0;
}

function showChange(
  { args, screen }: CommandContext,
  change: "added" | "changed" | "removed",
  box: BoxSummary,
): void {
  if (screen.isJson) screen.printJsonLine({ change, box });
  else if (args.isSet("quiet")) screen.print(box.name);
  else screen.print(`${box.name}  ${change === "removed" ? change : stateLine(box)}`);
}

/** The fields whose change prints a new line; ages and meters do not. */
const stateLine = (box: BoxSummary): string =>
  [phaseText(box), ...box.needs.map(({ sentence }) => printable(sentence))].join("  ");

export function phaseText({
  phase,
  reason,
  exitCode,
  agentState,
  verdict,
}: Pick<BoxSummary, "phase" | "reason" | "exitCode" | "agentState" | "verdict">): string {
  if (phase === "running" && agentState !== undefined)
    return agentState === "waiting" ? "waiting for you" : agentState;
  if (phase !== "stopped") return phase;
  if (verdict !== undefined) return verdict.replaceAll("_", " ");
  if (exitCode !== undefined) return `${reason ?? "stopped"} (${exitCode})`;
  return reason === undefined || reason === "requested" ? "stopped" : reason;
}

export function paintPhase(phase: string, text: string, style: Style): string {
  if (phase === "running") return style.green(text);
  if (phase === "failed") return style.red(text);
  return phase === "stopped" ? style.dim(text) : style.yellow(text);
}

/** Whether its work is in the repository: `unmerged (3)` is three files that are not. */
export const workText = ({ work, changedFiles = 0 }: Pick<BoxSummary, "work" | "changedFiles">): string =>
  work === "unmerged" ? `unmerged (${changedFiles})` : (work ?? "-");

export interface BoxTableOptions {
  readonly nowMs: number;
  readonly home: string;
  readonly style: Style;
  readonly width: number;
}

/** The widest column comes last: it takes the remaining width and can be cut. */
export function renderBoxes(boxes: readonly BoxSummary[], options: BoxTableOptions): string {
  const { nowMs, style, width } = options;
  // Where agents work, what they do says more than where: the runtime and the project are in --json and in inspect.
  const hasTasks = boxes.some(({ task, lastAction }) => task !== undefined || lastAction !== undefined);
  const rows = boxes.map((box) => [
    style.bold(shorten(box.name, 28)),
    paintPhase(box.phase, phaseText(box), style),
    box.agent,
    ...(hasTasks ? [] : [box.runtime]),
    workText(box),
    age(box.sinceMs, nowMs),
    ...(hasTasks ? [filesText(box), costText(box)] : []),
  ]);
  const titles = hasTasks
    ? ["NAME", "STATE", "AGENT", "WORK", "SINCE", "FILES", "COST"]
    : ["NAME", "STATE", "AGENT", "RUNTIME", "WORK", "SINCE"];
  const head = titles.map(style.dim);
  const taken = widthOf(renderTable([head, ...rows].map((row) => [...row, "|"])).split("\n")[0]!);
  const available = Math.max(12, width - taken + 1);
  const last = boxes.map((box) =>
    hasTasks ? cutEnd(whatText(box, options), available) : shorten(projectText(box, options), available),
  );
  return renderTable([
    [...head, style.dim(hasTasks ? "WHAT" : "PROJECT")],
    ...rows.map((row, index) => [...row, last[index]!]),
  ]);
}

const projectText = ({ projectDir }: BoxSummary, { home }: BoxTableOptions): string =>
  printable(tilde(projectDir ?? "-", home));

/** The reason why it needs a person, or else its task and its last action. */
function whatText(box: BoxSummary, options: BoxTableOptions): string {
  const { needs, task, lastAction } = box;
  const [need] = needs;
  const parts = need === undefined ? [task, lastAction] : [need.sentence, task];
  const text = parts.filter((part) => part !== undefined && part !== "").join(" · ");
  return text === "" ? projectText(box, options) : printable(text);
}

/** A sentence is cut at its end; of a path the end says most. */
const cutEnd = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

function filesText({ changedFiles, addedLines, deletedLines }: BoxSummary): string {
  if (changedFiles === undefined || changedFiles === 0) return "-";
  return addedLines === undefined ? `${changedFiles}` : `${changedFiles} +${addedLines} -${deletedLines}`;
}

function costText({ tokens, costMicroUsd }: BoxSummary): string {
  if (tokens === undefined) return "-";
  return costMicroUsd === undefined ? `${tokens} tokens` : `$${(costMicroUsd / 1_000_000).toFixed(2)}`;
}
