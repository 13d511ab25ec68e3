// A model server that real agents can work with: it speaks the vendors' APIs and says what a script tells it to.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { anthropic } from "./anthropic.ts";
import type { ModelApi } from "./api.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { sendJson, sendReply } from "./http-answers.ts";
import { asObject, asText, parseJson } from "./json.ts";
import { type LoggedRequest, ModelDesk, type RequestHead } from "./model-desk.ts";
import { readBody } from "./request-body.ts";
import { responses } from "./responses.ts";
import type { Script } from "./script.ts";
import { serveSocket } from "./socket-answers.ts";
import { type UsageTotals, estimateTokens } from "./usage.ts";
import { writeFileAndRun } from "./write-file-and-run.ts";

export interface ScriptedModelOptions {
  /** Without one: `writeFileAndRun()`. */
  readonly script?: Script;
  readonly port?: number;
  readonly host?: string;
  /** Titles, classifiers and the like get a short answer of their own unless this is false. */
  readonly answersSideCalls?: boolean;
  /** false refuses WebSockets with 426, as a server without them does. */
  readonly webSocket?: boolean;
  readonly onRequest?: (request: LoggedRequest) => void;
}

export interface ScriptedModel extends AsyncDisposable {
  /** Without a path: clients add /v1 or /v1beta, and any prefix they like. */
  readonly url: string;
  readonly port: number;
  /** Everything that came in, in order. */
  readonly requests: readonly LoggedRequest[];
  /** The sum of the usage that was really sent. */
  readonly usageTotals: UsageTotals;
}

const apis: readonly ModelApi[] = [anthropic, responses, chat, gemini];
const modelNames = ["claude-scripted", "gpt-scripted", "gemini-scripted"];

export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const desk = new ModelDesk({
    script: options.script ?? writeFileAndRun(),
    answersSideCalls: options.answersSideCalls ?? true,
    onRequest: options.onRequest ?? (() => undefined),
  });
  const server = createServer((request, response) => {
    answer(request, response, desk).catch((error: unknown) => {
      // A script that throws is a mistake in a test; the client sees it as the server's.
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: { message: `The script failed: ${String(error)}` } });
    });
  });
  const sockets = acceptSockets(server, desk, options.webSocket ?? true);
  const { host = "127.0.0.1", port = 0 } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    port: actual,
    requests: desk.requests,
    usageTotals: desk.usage,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, desk: ModelDesk): Promise<void> {
  const { method = "GET", url = "/", headers } = request;
  const text = await readBody(request);
  const head = { transport: "http", method, path: url, headers } as const;
  const path = url.split("?")[0] ?? url;
  const api = method === "POST" ? apis.find((one) => one.match(path)) : undefined;
  if (!api) return answerOther(head, path, response, desk, text);
  const body = asObject(parseJson(text));
  if (api.match(path) === "count") {
    desk.log(head, {
      api: api.name,
      body,
      model: asText(body["model"]),
      outcome: "answered",
      isSideCall: true,
    });
    return sendJson(response, 200, api.count(estimateTokens(text)));
  }
  const reply = await desk.ask(api, head, body);
  reply.logged.outcome = await sendReply(request, response, api, desk, reply);
}

/** A ping, a list of models, or a request that is not supported yet. */
function answerOther(
  head: RequestHead,
  path: string,
  response: ServerResponse,
  desk: ModelDesk,
  text: string,
): void {
  const isList = head.method === "GET" && path.endsWith("/models");
  const isPing = path === "/" || head.method === "HEAD";
  desk.log(head, { body: parseJson(text) ?? text, outcome: isList || isPing ? "answered" : "failed" });
  if (isPing) return void response.writeHead(200).end();
  if (!isList)
    return sendJson(response, 404, { error: { message: `No such path: ${path}`, type: "not_found" } });
  if (path.includes("/v1beta/"))
    return sendJson(response, 200, { models: modelNames.map((id) => ({ name: `models/${id}` })) });
  sendJson(response, 200, listModels());
}

/** One list for two vendors, whose fields do not clash. */
const listModels = () => ({
  object: "list",
  data: modelNames.map((id) => ({
    id,
    object: "model",
    type: "model",
    display_name: id,
    created: 0,
    created_at: "2026-01-01T00:00:00Z",
    owned_by: "script",
  })),
  has_more: false,
  first_id: modelNames.at(0),
  last_id: modelNames.at(-1),
});

function acceptSockets(server: Server, desk: ModelDesk, isOffered: boolean): WebSocketServer {
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    const { method = "GET", url = "/", headers } = request;
    const isKnown = responses.match(url.split("?")[0] ?? url) === "answer";
    if (isKnown && isOffered)
      return sockets.handleUpgrade(request, socket, head, (client) => serveSocket(client, request, desk));
    desk.log({ transport: "websocket", method, path: url, headers }, { outcome: "failed" });
    const status = isKnown ? "426 Upgrade Required" : "404 Not Found";
    socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  });
  return sockets;
}
