import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import type { Client } from "../../client/index.ts";
import { type BoxEvent, EventType } from "../../contract/events.ts";
import type { RunCommand } from "../command.ts";
import { reasonText, targetText } from "../../contract/network/egress-words.ts";
import type { Style } from "../render/style.ts";

const shownUnlessTold = 50;
const maxPage = 1_000;

export const run: RunCommand = async ({ args, screen, connect }) => {
  const filter = { box: args.text("box"), type: eventType(args.text("type")) };
  const client = await connect();
  const after = args.integer("after");
  const show = (event: BoxEvent) =>
    screen.isJson ? screen.printJsonLine(event) : screen.print(renderEvent(event, screen.style));
  const sinceMs = args.momentMs("since");
  const { events, lastId } =
    sinceMs === undefined
      ? await readPage(client, { ...filter, after, limit: args.integer("limit") })
      : await readSince(client, { ...filter, after, limit: args.integer("limit") }, sinceMs);
  events.forEach(show);
  if (!args.isSet("follow")) return 0;
  const from = events.at(-1)?.id ?? after ?? lastId;
  for await (const event of client.followEvents({ ...filter, after: from })) show(event);
  return 0;
};

interface Wanted {
  readonly box: string | undefined;
  readonly type: EventType | undefined;
  readonly after: number | undefined;
  readonly limit: number | undefined;
}

interface Found {
  /** The oldest first. */
  readonly events: readonly BoxEvent[];
  readonly lastId: number;
}

/** With --after a program resumes and wants the oldest first; a person wants to see what happened last. */
async function readPage(client: Client, { limit, ...filter }: Wanted): Promise<Found> {
  const isResumed = filter.after !== undefined;
  const page = await client.listEvents({
    ...filter,
    limit: limit ?? (isResumed ? maxPage : shownUnlessTold),
    order: isResumed ? "oldest" : "newest",
  });
  return { events: [...page.events].sort((a, b) => a.id - b.id), lastId: page.lastId };
}

/** Page by page backwards, until they are older than that. */
async function readSince(
  client: Client,
  { limit = Infinity, ...filter }: Wanted,
  sinceMs: number,
): Promise<Found> {
  const events: BoxEvent[] = [];
  let lastId: number | undefined;
  for (let before: number | undefined; ; before = events.at(-1)!.id) {
    const page = await client.listEvents({
      ...filter,
      ...omitUndefined({ before }),
      limit: Math.min(maxPage, limit - events.length),
      order: "newest",
    });
    lastId ??= page.lastId;
    const young = page.events.filter(({ atMs }) => atMs >= sinceMs);
    events.push(...young);
    if (page.events.length < maxPage || young.length < page.events.length || events.length >= limit)
      return { events: events.reverse(), lastId };
  }
}

function eventType(text: string | undefined): EventType | undefined {
  const known = EventType.options;
  const type = known.find((name) => name === text);
  if (text === undefined || type !== undefined) return type;
  const meant = suggest(text, known);
  throw new AgentBoxError("input.invalid", `There is no event of the type "${text}".`, {
    hint: meant ? `Did you mean: agentbox events --type ${meant}` : `Known: ${known.join(", ")}.`,
  });
}

export function renderEvent(event: BoxEvent, style: Style): string {
  const time = new Date(event.atMs).toISOString().slice(0, 19).replace("T", " ");
  const data = dataText(event);
  const words = [
    style.dim(`${String(event.id).padStart(5)}  ${time}`),
    event.type.padEnd(18),
    style.bold(event.box ?? "-"),
  ];
  return `${words.join("  ")}${data ? `  ${style.dim(printable(data).slice(0, 200))}` : ""}`;
}

function dataText({ type, data }: BoxEvent): string {
  const sentence = networkText(type, data);
  if (sentence !== undefined) return sentence;
  return Object.entries(data)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

/** An event of the gate as a sentence; undefined for other events. */
function networkText(type: BoxEvent["type"], data: BoxEvent["data"]): string | undefined {
  const { host, port, method, path, program, reason, rule, count, approval, outcome, scope } = data;
  if (typeof host !== "string" || typeof port !== "number") return undefined;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const target = targetText({ host, port, method: text(method), path: text(path) });
  const by = text(program) === undefined ? "" : `, by ${text(program)}`;
  const times = typeof count === "number" && count > 1 ? ` (${count} times)` : "";
  if (type === "egress.denied") return `${target}: ${reasonText(text(reason))}${by}${times}`;
  if (type === "egress.allowed") return `${target}: ${text(rule) ?? "allowed"}${by}`;
  if (type === "approval.asked") return `question ${String(approval)}: ${target}${by}`;
  if (type !== "approval.answered") return undefined;
  return `question ${String(approval)}: ${target}: ${text(outcome) ?? "?"}${text(scope) ? `, ${text(scope)}` : ""}`;
}
