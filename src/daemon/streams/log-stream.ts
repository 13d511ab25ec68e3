import type { ServerResponse } from "node:http";
import type { Using } from "../../core/using.ts";

/** SECURITY: a reader that does not read must not fill the daemon's memory. */
const maxBacklogBytes = 16 << 20;

export interface LogQuery {
  readonly source: string;
  readonly tail?: number | undefined;
  readonly follow: boolean;
}

/** Sends what is kept, and with `follow` what is still to come, until the box stops or the reader leaves. */
export async function streamLogs(
  core: Using<"getBox" | "logs" | "onEvent">,
  response: ServerResponse,
  name: string,
  query: LogQuery,
): Promise<void> {
  const box = await core.getBox(name);
  const { logs } = core.ports;
  const isAtRest = box.state.phase === "stopped" || box.state.phase === "failed";
  if (!query.follow || isAtRest) {
    const kept = await logs.read(name, query.source, { tailLines: query.tail });
    response.writeHead(200, { "content-type": "application/octet-stream" });
    response.end(kept);
    return;
  }
  let isReplayed = false;
  const early: Uint8Array[] = [];
  const send = (chunk: Uint8Array): void => {
    response.write(chunk);
    if (response.writableLength > maxBacklogBytes) response.destroy();
  };
  const { kept, stop } = await logs.follow(name, query.source, { tailLines: query.tail }, (chunk) =>
    isReplayed ? send(chunk) : early.push(chunk),
  );
  const unsubscribe = core.onEvent(({ type, box: ended }) => {
    const isOver = type === "box.stopped" || type === "box.died" || type === "box.removed";
    if (isOver && ended === name) response.end();
  });
  response.on("close", () => {
    stop();
    unsubscribe();
  });
  response.writeHead(200, { "content-type": "application/octet-stream" });
  send(kept);
  for (const chunk of early) send(chunk);
  isReplayed = true;
}
