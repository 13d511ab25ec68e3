import { printable } from "../../base/printable.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { RunCommand } from "../command.ts";
import type { Style } from "../render/style.ts";

const shownUnlessTold = 50;

export const run: RunCommand = async ({ args, screen, connect }) => {
  const client = await connect();
  const after = args.integer("after");
  const filter = { box: args.text("box"), type: args.text("type") };
  const show = (event: BoxEvent) =>
    screen.isJson ? screen.printJsonLine(event) : screen.print(renderEvent(event, screen.style));
  // With --after a program resumes and wants the oldest first; a person wants to see what happened last.
  const limit = args.integer("limit") ?? (after === undefined ? shownUnlessTold : 1_000);
  const page = await client.listEvents({
    ...filter,
    after,
    limit,
    order: after === undefined ? "newest" : "oldest",
  });
  const events = [...page.events].sort((a, b) => a.id - b.id);
  events.forEach(show);
  if (!args.isSet("follow")) return 0;
  const from = events.at(-1)?.id ?? after ?? page.lastId;
  for await (const event of client.followEvents({ ...filter, after: from })) show(event);
  return 0;
};

export function renderEvent(event: BoxEvent, style: Style): string {
  const time = new Date(event.atMs).toISOString().slice(0, 19).replace("T", " ");
  const data = Object.entries(event.data)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  const words = [
    style.dim(`${String(event.id).padStart(5)}  ${time}`),
    event.type.padEnd(18),
    style.bold(event.box ?? "-"),
  ];
  return `${words.join("  ")}${data ? `  ${style.dim(printable(data).slice(0, 200))}` : ""}`;
}
