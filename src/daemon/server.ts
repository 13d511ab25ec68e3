/**
 * The HTTP edge of the daemon: one owner-only unix socket, JSON in and out, server-sent events, WebSockets. Bad
 * input of any kind is answered with a coded error and never ends the process.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { z } from "zod";
import { AgentBoxError, systemCode, toAgentBoxError } from "../base/errors.ts";
import { versionHeader } from "../contract/api/headers.ts";
import type { RouteName } from "../contract/api/routes.ts";
import type { Core } from "../core/context.ts";
import type { Logger } from "../host/logger.ts";
import { handlers, type Request } from "./handlers.ts";
import type { Metrics } from "./metrics.ts";
import { matchRoute, type Match } from "./router.ts";
import { sendError } from "./socket-stream.ts";
import { isStreamRoute, streamHandlers } from "./streams.ts";

const maxBodyBytes = 2 << 20;

export interface ServerDeps {
  readonly core: Core;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  readonly startedAtMs: number;
  readonly home: string;
  readonly doctor: Request["deps"]["doctor"];
  /** Asked by the API to end the process. */
  readonly requestStop: () => void;
}

export function createApiServer(deps: ServerDeps): Server {
  const server = createServer({ maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 60_000 });
  server.maxConnections = 1024;
  server.on("request", (request, response) => {
    void answer(deps, request, response);
  });
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 1 << 20,
    skipUTF8Validation: true,
  });
  server.on("upgrade", (request, socket, head) => upgrade(deps, sockets, request, socket, head));
  server.on("clientError", (error, socket) => refuseConnection(socket, notHttp(error)));
  return server;
}

/** SECURITY: only a browser sends an Origin. No page may speak to the daemon, however it got to the socket. */
function refuseBrowsers(request: IncomingMessage): void {
  if (request.headers.origin === undefined) return;
  throw new AgentBoxError("input.invalid", "Requests from web pages are not accepted here.");
}

const locate = (request: IncomingMessage): { match: Match; url: URL } => {
  refuseBrowsers(request);
  const target = request.url ?? "/";
  const url = URL.canParse(target, "http://agentbox") ? new URL(target, "http://agentbox") : undefined;
  if (!url) throw new AgentBoxError("input.invalid", "The request target is not a valid path.");
  return { url, match: matchRoute(request.method ?? "GET", url.pathname) };
};

async function answer(deps: ServerDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const startedAt = performance.now();
  let name: RouteName | "none" = "none";
  response.setHeader(versionHeader, deps.version);
  try {
    const { match, url } = locate(request);
    name = match.name;
    const body = match.route.body ? parseWith(match.route.body, await readJson(request), "body") : undefined;
    const query = match.route.query
      ? parseWith(match.route.query, Object.fromEntries(url.searchParams), "query")
      : undefined;
    const handle = handlers[match.name] as (request: Request) => Promise<unknown>;
    const result = await handle({
      deps,
      params: match.params,
      query,
      body,
      headers: request.headers,
      response,
    });
    if (!response.headersSent) sendJson(response, 200, result ?? {});
  } catch (error) {
    fail(deps, response, error);
  } finally {
    deps.metrics.observeRequest(name, response.statusCode, (performance.now() - startedAt) / 1_000);
  }
}

function fail(deps: ServerDeps, response: ServerResponse, error: unknown): void {
  const known = toAgentBoxError(error);
  if (known.code === "internal.unexpected") {
    deps.logger.error(
      { error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      "request failed",
    );
  }
  if (response.headersSent) response.destroy();
  else sendJson(response, known.status, { error: known.toBody() });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

function parseWith<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || where}: ${message}`);
  throw new AgentBoxError("input.invalid", `The ${where} is not valid (${issues.join("; ")}).`, {
    hint: "See /openapi.json for what it takes.",
  });
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) {
      throw new AgentBoxError("input.too_large", `A request body may have at most ${maxBodyBytes} bytes.`);
    }
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString() || "{}");
  } catch {
    throw new AgentBoxError("input.invalid", "The request body is not JSON.");
  }
}

function upgrade(
  deps: ServerDeps,
  sockets: WebSocketServer,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  socket.on("error", () => socket.destroy());
  try {
    const { match } = locate(request);
    const { name } = match;
    if (!isStreamRoute(name)) throw new AgentBoxError("request.not_found", "This route is not a stream.");
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("error", () => client.terminate());
      streamHandlers[name](deps.core, client, match.params)
        .then(() => client.close())
        .catch((error: unknown) => {
          const known = sendError(client, error);
          if (known.code === "internal.unexpected")
            deps.logger.error({ error: String(error) }, "stream failed");
        });
    });
  } catch (error) {
    refuseConnection(socket, toAgentBoxError(error));
  }
}

/** What Node's parser did not accept: too long, too slow, or no HTTP at all. */
function notHttp(error: Error): AgentBoxError {
  const code = systemCode(error);
  if (code === "HPE_HEADER_OVERFLOW")
    return new AgentBoxError("input.too_large", "The request's headers are too large.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new AgentBoxError("request.timed_out", "The request did not arrive in time.");
  return new AgentBoxError("input.invalid", "The request is not HTTP.");
}

/** For a connection that has no response to write to. */
function refuseConnection(socket: Duplex, error: AgentBoxError): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify({ error: error.toBody() });
  const head = [
    `HTTP/1.1 ${error.status} Refused`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
