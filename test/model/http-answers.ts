// Answers over HTTP: JSON documents, server-sent events, and every way these can go wrong.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ErrorFault, ModelApi, WireEvent } from "./api.ts";
import { type Channel, type Outcome, deliver, hang, pause } from "./delivery.ts";
import type { JsonObject } from "./json.ts";
import type { ModelDesk, Reply } from "./model-desk.ts";
import type { Fault, Step } from "./step.ts";

const json = { "content-type": "application/json" };

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(body));
}

const write = async (response: ServerResponse, text: string): Promise<void> => {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => response.write(text, () => resolve()));
};

const frame = ({ event, data }: WireEvent): string =>
  `${event ? `event: ${event}\n` : ""}data: ${data === "[DONE]" ? data : JSON.stringify(data)}\n\n`;

const leaving = (response: ServerResponse): AbortSignal => {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  return controller.signal;
};

function sendError(response: ServerResponse, api: ModelApi, fault: ErrorFault): void {
  const seconds = fault.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { "retry-after": String(seconds) };
  sendJson(response, fault.status, api.error(fault), headers);
}

/** Faults that take the place of the answer; undefined for those that happen within it. */
async function sendFault(
  response: ServerResponse,
  api: ModelApi,
  fault: Fault,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  switch (fault.kind) {
    case "error":
      sendError(response, api, fault);
      return "failed";
    case "hang":
      return await hang(signal);
    case "content-type": {
      const { contentType = "text/html", body = "<html><body>Please log in.</body></html>" } = fault;
      response.writeHead(200, { "content-type": contentType }).end(body);
      return "failed";
    }
    case "disconnect":
    case "malformed":
      break;
  }
  return undefined;
}

/** Sends the reply in the form the request asked for, and says how that ended. */
export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  api: ModelApi,
  desk: ModelDesk,
  reply: Reply,
): Promise<Outcome> {
  const { step } = reply;
  const signal = leaving(response);
  if (step.delayMs) await pause(step.delayMs, signal);
  const failed = step.fault && (await sendFault(response, api, step.fault, signal));
  if (failed) return failed;
  const body = reply.logged.body as JsonObject;
  if (!reply.conversation.stream) return await sendDocument(response, api, desk, reply, body);
  const events = api.stream(reply.answer, body);
  if (api.name === "gemini" && !request.url?.includes("alt=sse"))
    return await sendList(response, events, desk, reply);
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  const outcome = await deliver(events, step, sseChannel(response, signal), (usage) =>
    desk.usage.add(reply.conversation.model, usage),
  );
  if (outcome === "answered") response.end();
  return outcome;
}

const sseChannel = (response: ServerResponse, signal: AbortSignal): Channel => ({
  signal,
  send: (event) => write(response, frame(event)),
  sendGarbage: () => write(response, `data: {"type": oops\n\nthis is no event\n\n`),
  cut: () => response.destroy(),
});

async function sendDocument(
  response: ServerResponse,
  api: ModelApi,
  desk: ModelDesk,
  { step, answer, conversation }: Reply,
  body: JsonObject,
): Promise<Outcome> {
  const document = api.whole(answer, body);
  const outcome = await sendText(response, JSON.stringify(document.body), step);
  if (outcome === "answered") desk.usage.add(conversation.model, document.usage);
  return outcome;
}

/** Gemini streams a JSON list to clients that did not ask for events; no client needs it slowly. */
async function sendList(
  response: ServerResponse,
  events: readonly WireEvent[],
  desk: ModelDesk,
  { step, conversation }: Reply,
): Promise<Outcome> {
  const outcome = await sendText(response, JSON.stringify(events.map(({ data }) => data)), step);
  if (outcome === "answered")
    for (const { usage } of events) if (usage) desk.usage.add(conversation.model, usage);
  return outcome;
}

async function sendText(response: ServerResponse, text: string, { fault }: Step): Promise<Outcome> {
  const half = text.slice(0, text.length / 2);
  if (fault?.kind === "malformed") {
    response.writeHead(200, json).end(half);
    return "failed";
  }
  response.writeHead(200, { ...json, "content-length": Buffer.byteLength(text) });
  if (fault?.kind === "disconnect") {
    await write(response, half);
    response.destroy();
    return "cut";
  }
  response.end(text);
  return "answered";
}
