import type { ServerResponse } from "node:http";
import type { BoxEvent } from "../../contract/events.ts";
import type { Using } from "../../core/using.ts";

const keepAliveMs = 15_000;
const pageSize = 500;
/** SECURITY: a reader that does not read must not fill the daemon's memory; it may come back with its last id. */
const maxBacklogBytes = 4 << 20;

export interface EventStreamOptions {
  readonly after: number;
  readonly box?: string | undefined;
  readonly type?: string | undefined;
  /** SECURITY: decided for each event anew, because a caller's access can change while the stream is open. */
  readonly shows: (event: BoxEvent) => boolean;
}

const block = (event: BoxEvent) =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Sends every event after an id, then stays open: no gap and no double between the log and what is new. */
export async function streamEvents(
  core: Using<"onEvent" | "store">,
  response: ServerResponse,
  options: EventStreamOptions,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.write(": agentbox\n\n");
  let lastId = options.after;
  let waiting: BoxEvent[] | undefined = [];
  const wanted = (event: BoxEvent) =>
    (options.box === undefined || event.box === options.box) &&
    (options.type === undefined || event.type === options.type) &&
    options.shows(event);
  const send = (event: BoxEvent): void => {
    if (event.id <= lastId) return;
    lastId = event.id;
    if (wanted(event)) response.write(block(event));
    if (response.writableLength > maxBacklogBytes) response.destroy();
  };
  const unsubscribe = core.onEvent((event) => (waiting ? waiting.push(event) : send(event)));
  const keepAlive = setInterval(() => response.write(": keep-alive\n\n"), keepAliveMs);
  response.on("close", () => {
    clearInterval(keepAlive);
    unsubscribe();
  });
  for (;;) {
    const page = await core.ports.store.listEvents({ after: lastId, limit: pageSize });
    for (const event of page) send(event);
    if (page.length < pageSize || response.destroyed) break;
    if (response.writableNeedDrain)
      await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
  }
  for (const event of waiting) send(event);
  waiting = undefined;
}
