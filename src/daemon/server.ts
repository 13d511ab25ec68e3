/**
 * The HTTP edge of the daemon: JSON in and out, server-sent events, WebSockets; on one owner-only unix socket and, once
 * the dashboard is wanted, on a port of loopback. Bad input of any kind is answered with a coded error and never ends
 * the process.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { AgentBoxError, systemCode, toAgentBoxError } from "../base/errors.ts";
import { includesRole } from "../contract/access/principal.ts";
import { socketProtocol, versionHeader } from "../contract/api/headers.ts";
import type { RouteName } from "../contract/api/routes.ts";
import { getSchema } from "../contract/api/schemas/get-schema.ts";
import { requireAuthority } from "../core/access/authority.ts";
import { type Caller, idOf } from "../core/access/caller.ts";
import { decideReach } from "../core/access/decide-reach.ts";
import type { Visibility } from "../core/access/visibility.ts";
import { noSuchBox } from "../core/context.ts";
import type { Using } from "../core/using.ts";
import type { Logger } from "../host/logger.ts";
import { type ClosedConnections, WaitingConnections } from "../host/waiting-connections.ts";
import { CallerConnections } from "./caller-connections.ts";
import { enter, type EntryKind, type ListenerKind } from "./door.ts";
import { type HandlerDeps, handlers, type Request } from "./handlers/handlers.ts";
import { parseWith, readJson, sendJson } from "./http.ts";
import { matchRoute, type Match } from "./router.ts";
import { sendError } from "./streams/socket-stream.ts";
import { isStreamRoute, streamHandlers } from "./streams/streams.ts";
import { securityHeaders, setSecurityHeaders } from "./web/headers.ts";
import { answerSite } from "./web/site.ts";

export interface ServerDeps extends HandlerDeps {
  readonly logger: Logger;
  /** Directory of the built dashboard. */
  readonly webBuild: URL;
}

export function createApiServer(deps: ServerDeps, listener: ListenerKind): Server {
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 60_000,
    connectionsCheckingInterval: 1_000,
  });
  // Those of others, those that have shown no right yet while it is asked whose they are, and room for the owner.
  server.maxConnections = 768 + 1_024 + 256;
  const isWeb = listener.kind === "web";
  const previews = isWeb ? deps.previews : undefined;
  // The socket is the owner's alone; the port is open to every user of the host.
  const waiting = isWeb ? new WaitingConnections(server, { most: 128, onClosed: noting(deps) }) : undefined;
  const known = isWeb ? new CallerConnections({ each: 128, all: 768 }) : undefined;
  server.on("request", (request, response) => {
    const admitted = () => waiting?.admit(request.socket);
    const admit = (caller: Caller) => {
      known?.admit(caller, request.socket);
      admitted();
    };
    if (previews?.owns(request)) void previews.answer(request, response, admitted);
    else void answer(deps, listener, { request, response, admit });
  });
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 1 << 20,
    skipUTF8Validation: true,
    // SECURITY: never the one that carries the key, which would then stand in the answer.
    handleProtocols: (offered) => (offered.has(socketProtocol) ? socketProtocol : false),
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const admitted = () => waiting?.admit(socket);
    const admit = (caller: Caller) => {
      known?.admit(caller, socket);
      admitted();
    };
    if (previews?.owns(request)) previews.upgrade({ request, socket, head }, admitted);
    else void upgrade(deps, listener, sockets, { request, socket, head, admit });
  });
  server.on("clientError", (error, socket) => refuseConnection(socket, notHttp(error)));
  return server;
}

const noteEveryMs = 60_000;

/** In the daemon's log, at most once a minute: a user who floods the port does not also flood the log. */
function noting({ logger }: ServerDeps): (closed: ClosedConnections) => void {
  let notedAt = -noteEveryMs;
  let unnoted = 0;
  return ({ user, count }) => {
    unnoted += count;
    if (performance.now() - notedAt < noteEveryMs) return;
    logger.warn(
      { user, count: unnoted },
      "closed connections to the dashboard that had shown no right to it",
    );
    notedAt = performance.now();
    unnoted = 0;
  };
}

interface Admitted {
  readonly match: Match;
  readonly url: URL;
  readonly caller: Caller;
  readonly access: Visibility;
  readonly reached: Reached;
}

interface Reached {
  /** Whether they would be let in again, as far as the box is concerned. */
  readonly mayStill: () => boolean;
  /** Throws when the box that they were let in for is gone. SECURITY: a request may take a minute to arrive, and another box has the name by then. */
  readonly requireSame: () => Promise<void>;
}

/** Who asks, for what, and whether they may. Everything that reaches a handler has come through here. */
async function admit(
  { core }: ServerDeps,
  listener: ListenerKind,
  request: IncomingMessage,
  kind: EntryKind,
): Promise<Admitted | { readonly url: URL; readonly caller: undefined }> {
  const { url, caller } = enter(core.access, listener, request, kind);
  if (caller === undefined) return { url, caller };
  const match = matchRoute(request.method ?? "GET", url.pathname);
  const access = core.access.visibilityOf(caller);
  const reached = await requireReach(core, access, match);
  return { match, url, caller, access, reached };
}

async function requireReach(
  core: Using<"access" | "store">,
  access: Visibility,
  { name, route, params }: Match,
): Promise<Reached> {
  const { box } = params;
  const found = box === undefined || access.isOfHost ? undefined : await core.ports.store.findBox(box);
  const roleNow = () => found && access.roleOnLife({ box: found.name, incarnation: found.incarnation });
  const role = roleNow();
  const decision = decideReach(access.principal, route, role);
  // SECURITY: a share can end, or give less, while its person stays signed in; an open terminal must end with it.
  if (decision.allow)
    return {
      mayStill: () => role === undefined || includesRole(roleNow(), role),
      async requireSame() {
        if (found === undefined) return;
        const { incarnation } = (await core.ports.store.findBox(found.name)) ?? {};
        if (incarnation !== found.incarnation) throw noSuchBox(found.name);
      },
    };
  core.access.refused(decision.reason, {
    route: name,
    who: access.principal.kind,
    id: idOf(access.principal),
    box,
  });
  if (decision.reason === "unseen") throw noSuchBox(box ?? "");
  throw new AgentBoxError(
    "access.forbidden",
    decision.reason === "scope"
      ? `This credential does not have the scope "${route.scope}".`
      : "This is not yours to use.",
    { facts: { route: name, reason: decision.reason } },
  );
}

/** Their answers must still go out, although what they came with has ended. */
const endingRoutes: ReadonlySet<RouteName> = new Set(["signOut", "endSignIn", "removeToken", "removeShare"]);

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Called when the caller is known; fails where they have too many connections. */
  readonly admit: (caller: Caller) => void;
}

async function answer(deps: ServerDeps, listener: ListenerKind, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const startedAt = performance.now();
  let name: RouteName | "none" = "none";
  response.setHeader(versionHeader, deps.version);
  if (listener.kind === "web") setSecurityHeaders(response);
  try {
    const admitted = await admit(deps, listener, request, "request");
    if (admitted.caller === undefined) {
      const { core, web, webBuild } = deps;
      const { url } = admitted;
      const isSecure = request.headers.host === new URL(web.url).host && web.url.startsWith("https:");
      const { hasProxy } = web;
      return await answerSite({ core, url, request, response, isSecure, hasProxy }, webBuild);
    }
    const { match, url, caller, access, reached } = admitted;
    exchange.admit(caller);
    name = match.name;
    if (!endingRoutes.has(name))
      response.on(
        "close",
        deps.core.access.hold(caller, () => response.destroy(), reached.mayStill),
      );
    const body = match.route.body
      ? parseWith(getSchema(match.route.body), await readJson(request), "body")
      : undefined;
    const query = match.route.query
      ? parseWith(getSchema(match.route.query), Object.fromEntries(url.searchParams), "query")
      : undefined;
    requireAuthority(deps.core, caller, match.name, body);
    await reached.requireSame();
    const handle = handlers[match.name] as (request: Request) => Promise<unknown>;
    const result = await handle({
      deps,
      params: match.params,
      query,
      body,
      headers: request.headers,
      response,
      access,
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

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly admit: (caller: Caller) => void;
}

async function upgrade(
  deps: ServerDeps,
  listener: ListenerKind,
  sockets: WebSocketServer,
  { request, socket, head, admit: admitCaller }: Upgrade,
): Promise<void> {
  try {
    const admitted = await admit(deps, listener, request, "upgrade");
    if (admitted.caller === undefined)
      throw new AgentBoxError("request.not_found", "This route is not a stream.");
    const { match, caller, access, reached } = admitted;
    admitCaller(caller);
    const { name } = match;
    if (!isStreamRoute(name)) throw new AgentBoxError("request.not_found", "This route is not a stream.");
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("error", () => client.terminate());
      client.on(
        "close",
        deps.core.access.hold(caller, () => client.terminate(), reached.mayStill),
      );
      streamHandlers[name](deps.core, client, match.params, { access, requireSame: reached.requireSame })
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

/** Requests that Node's parser did not accept: too long, too slow, or not HTTP. */
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
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
