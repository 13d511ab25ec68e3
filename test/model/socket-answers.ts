// OpenAI Responses over a WebSocket: the client sends `response.create`, the events come as text frames, and
// the socket stays open for the next turn.
import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { ErrorFault, WireEvent } from "./api.ts";
import { type Channel, type Outcome, deliver, hang, pause } from "./delivery.ts";
import { type JsonObject, asObject, parseJson } from "./json.ts";
import type { ModelDesk, Reply } from "./model-desk.ts";
import { responses } from "./responses.ts";

export function serveSocket(socket: WebSocket, request: IncomingMessage, desk: ModelDesk): void {
  const controller = new AbortController();
  socket.once("close", () => controller.abort());
  socket.on("error", () => socket.terminate());
  const channel = socketChannel(socket, controller.signal);
  let turns = Promise.resolve();
  socket.on("message", (data: Buffer) => {
    const { type, ...body } = asObject(parseJson(data.toString("utf8")));
    turns = turns
      .then(async () => {
        if (type === "response.create") await answerTurn(channel, request, desk, body);
        else await sendError(channel, { kind: "error", status: 400, message: "Expected response.create." });
      })
      // A script that throws is a mistake in a test; the client sees it as the server's.
      .catch((error: unknown) =>
        sendError(channel, { kind: "error", status: 500, message: `The script failed: ${String(error)}` }),
      );
  });
}

const socketChannel = (socket: WebSocket, signal: AbortSignal): Channel => {
  const send = (text: string) => new Promise<void>((resolve) => socket.send(text, () => resolve()));
  return {
    signal,
    send: ({ data }: WireEvent) => send(JSON.stringify(data)),
    sendGarbage: () => send(`{"type": oops`),
    cut: () => socket.terminate(),
  };
};

const sendError = (channel: Channel, fault: ErrorFault): Promise<void> => {
  const { status, retryAfterSeconds: seconds } = fault;
  const headers = seconds === undefined ? {} : { "retry-after": String(seconds) };
  return channel.send({ data: { type: "error", status, headers, ...responses.error(fault) } });
};

async function answerTurn(
  channel: Channel,
  { url = "/", headers }: IncomingMessage,
  desk: ModelDesk,
  body: JsonObject,
): Promise<void> {
  const head = { transport: "websocket", method: "GET", path: url, headers } as const;
  const reply = await desk.ask(responses, head, body);
  reply.logged.outcome = await sendReply(channel, desk, reply, body);
}

async function sendReply(
  channel: Channel,
  desk: ModelDesk,
  reply: Reply,
  body: JsonObject,
): Promise<Outcome> {
  const { step, answer, conversation } = reply;
  if (step.delayMs) await pause(step.delayMs, channel.signal);
  const { fault } = step;
  if (fault?.kind === "hang") return await hang(channel.signal);
  if (fault?.kind === "error") {
    await sendError(channel, fault);
    return "failed";
  }
  if (fault?.kind === "content-type") {
    await channel.sendGarbage();
    return "failed";
  }
  const events = responses.stream(answer, body);
  return await deliver(events, step, channel, (usage) => desk.usage.add(conversation.model, usage));
}
