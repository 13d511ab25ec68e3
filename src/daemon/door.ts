/**
 * The caller's identity. One function for requests, event streams and WebSockets alike, so that no entrance can skip a
 * part of it. On the socket, a caller that can open it is the owner. The web port requires a credential.
 */
import type { IncomingMessage } from "node:http";
import { AgentBoxError } from "../base/errors.ts";
import { routes } from "../contract/api/routes.ts";
import { sessionCookie, sessionKeyHeader, socketProtocol } from "../contract/api/headers.ts";
import { type Access, unauthenticated } from "../core/access/access.ts";
import { type Caller, socketOwner } from "../core/access/caller.ts";
import { cookieValues } from "./cookies.ts";

/** By which names the dashboard may be addressed, and so from which pages it may be asked. */
export interface WebAddresses {
  /** As in a Host header, in lower case, with the port. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

export type ListenerKind =
  | { readonly kind: "socket" }
  | { readonly kind: "web"; readonly addresses: () => WebAddresses };

export interface Entry {
  readonly url: URL;
  /** Absent for what is no part of the API: the page itself, and the way to a session. */
  readonly caller: Caller | undefined;
}

/** `upgrade`: it wants to become a WebSocket. */
export type EntryKind = "request" | "upgrade";

const firstParts = new Set(Object.values(routes).map(({ path }) => path.split("/")[1] ?? ""));
/** SECURITY: decided by the first part alone, so that what is not a route of the API is still answered by the API. */
const isOfApi = (pathname: string): boolean => firstParts.has(pathname.split("/")[1] ?? "");

export function enter(
  access: Access,
  listener: ListenerKind,
  request: IncomingMessage,
  kind: EntryKind,
): Entry {
  if (listener.kind === "socket") {
    refuseBrowsers(request);
    return { url: targetOf(request), caller: socketOwner };
  }
  const { hosts, origins } = listener.addresses();
  checkHost(access, request, hosts);
  checkOrigin(access, request, origins, kind);
  const url = targetOf(request);
  if (kind === "request" && !isOfApi(url.pathname)) return { url, caller: undefined };
  checkFetchSite(access, request);
  return { url, caller: identify(access, request, kind) };
}

/** SECURITY: only a browser sends an Origin. No page may speak to the daemon's socket, however it got there. */
function refuseBrowsers(request: IncomingMessage): void {
  if (request.headers.origin === undefined) return;
  throw new AgentBoxError("input.invalid", "Requests from web pages are not accepted here.");
}

/**
 * SECURITY: a path and nothing else. A whole address in place of it (`GET http://other/…`, `GET //other/…`) names
 * a second host, and two names in one request is how a check is talked past.
 */
function targetOf(request: IncomingMessage): URL {
  const target = request.url ?? "/";
  const isPath = target.startsWith("/") && !target.startsWith("//") && !target.includes("\\");
  if (isPath && URL.canParse(target, "http://agentbox")) return new URL(target, "http://agentbox");
  throw new AgentBoxError("input.invalid", "The request target is not a valid path.");
}

/** All values of a header as they came; Node would show the first `Host` only. */
const rawValues = ({ rawHeaders }: IncomingMessage, name: string): string[] =>
  rawHeaders.flatMap((text, index) =>
    index % 2 === 0 && text.toLowerCase() === name ? [rawHeaders[index + 1] ?? ""] : [],
  );

/** SECURITY: a page whose own name was pointed at this machine (DNS rebinding) still sends that name. */
function checkHost(access: Access, request: IncomingMessage, hosts: ReadonlySet<string>): void {
  const [host, ...more] = rawValues(request, "host");
  if (host !== undefined && more.length === 0 && hosts.has(host.toLowerCase())) return;
  access.refused("host", { host: host ?? "none" });
  throw foreign("The dashboard is not known by this name.");
}

/** SECURITY: another page, or a box's preview, must not act with this browser's cookie; on a WebSocket nothing else stops it. */
function checkOrigin(
  access: Access,
  request: IncomingMessage,
  origins: ReadonlySet<string>,
  kind: EntryKind,
): void {
  const found = rawValues(request, "origin");
  const isOurs = found.length === 1 && origins.has(found[0] ?? "");
  const isProgram = found.length === 0 && (kind === "request" || hasBearer(request));
  if (isOurs || isProgram) return;
  access.refused("origin", { origin: found[0] ?? "none" });
  throw foreign("Requests from other pages are not accepted here.");
}

/** The browser's own statement about the origin of a request; programs send none. */
function checkFetchSite(access: Access, request: IncomingMessage): void {
  const site = request.headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return;
  access.refused("site", { site });
  throw foreign("Requests from other pages are not accepted here.");
}

const foreign = (message: string): AgentBoxError => new AgentBoxError("access.forbidden", message);

const bearer = /^Bearer ([A-Za-z0-9_-]{1,200})$/i;
const hasBearer = ({ headers }: IncomingMessage): boolean => headers.authorization !== undefined;

function identify(access: Access, request: IncomingMessage, kind: EntryKind): Caller {
  const { headers } = request;
  if (headers.authorization !== undefined) {
    // SECURITY: a token is for programs; a page that has one must not be able to use it from inside a browser.
    if (headers.origin !== undefined) throw foreign("An access token is not accepted from a web page.");
    const value = bearer.exec(headers.authorization)?.[1];
    return access.identifyToken(value ?? "");
  }
  const cookies = cookieValues(headers.cookie, sessionCookie);
  const key = kind === "upgrade" ? keyOfProtocols(request) : headers[sessionKeyHeader]?.toString();
  // SECURITY: both halves. A cookie goes to every port of the host, so another server on it may have seen it.
  if (cookies.length === 0 || key === undefined) throw unauthenticated("No one is signed in here.");
  if (kind === "request") checkContentType(request);
  return access.identifySession({ cookies, key });
}

/** SECURITY: a form of another page can send no JSON, and a script of another page would have to ask first. */
function checkContentType({ method, headers }: IncomingMessage): void {
  if (method === "GET" || method === "HEAD") return;
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw new AgentBoxError("input.invalid", "A change must have the content type application/json.");
}

function keyOfProtocols({ headers }: IncomingMessage): string | undefined {
  const offered = headers["sec-websocket-protocol"]?.split(",").map((each) => each.trim()) ?? [];
  if (!offered.includes(socketProtocol)) return undefined;
  return offered.find((each) => each.startsWith("key."))?.slice("key.".length);
}
