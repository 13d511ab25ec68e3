/**
 * Reads the head of a request for the judgement, and makes the head that is sent on: the same target, byte for byte,
 * and the same headers without those that only concern the connection. A head with two readings is refused.
 */
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { canonicalPath } from "../../../contract/network/path-pattern.ts";
import { isOverrideHeader } from "../../../contract/network/request-overrides.ts";

export type InboundRequest = IncomingMessage | Http2ServerRequest;

export interface RequestHead {
  readonly method: string;
  /** As it was sent: origin-form, or absolute-form to a proxy. */
  readonly target: string;
  /** The one Host header or :authority. */
  readonly authority: string;
  /** Name, value, name, value; without Host and without hop-by-hop headers. */
  readonly headers: readonly string[];
  readonly framing: "none" | "length" | "chunked";
  /** How long the body is, where the head says so. */
  readonly bodyBytes: number | undefined;
  readonly upgrade: string | undefined;
}

const maxTarget = 8_192;
const methodToken = /^[A-Z][A-Z-]{0,31}$/;
/** TRACE would send injected credentials back to the box; CONNECT would open a tunnel inside an inspected request. */
const refusedMethods = new Set(["TRACE", "TRACK", "CONNECT"]);
/** Visible ASCII only, so the target cannot be read differently in another encoding. */
const targetBytes = /^[\x21-\x7e]+$/;

const connectionHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

export type HeadProblem = "malformed" | "wrong_method";

export function readRequestHead(request: InboundRequest): RequestHead | HeadProblem {
  const method = request.method ?? "";
  const target = request.url ?? "";
  if (!methodToken.test(method)) return "malformed";
  if (refusedMethods.has(method)) return "wrong_method";
  if (target.length === 0 || target.length > maxTarget || !targetBytes.test(target)) return "malformed";
  // SECURITY: not by the version that is written in the request: HTTP/1.1 can say "HTTP/2.0", and has other framings.
  if ("stream" in request) return readHttp2(request, method, target);
  return request.httpVersionMajor === 1 ? readHttp1(request, method, target) : "malformed";
}

function readHttp1(
  { rawHeaders }: InboundRequest,
  method: string,
  target: string,
): RequestHead | "malformed" {
  let authority: string | undefined;
  let framing: RequestHead["framing"] = "none";
  let bodyBytes: number | undefined;
  let upgrade: string | undefined;
  const named = connectionNamed(rawHeaders);
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!;
    if (name === "host") {
      // SECURITY: with two Host headers one parser takes the first and another the last.
      if (authority !== undefined) return "malformed";
      authority = value;
    } else if (name === "content-length" || name === "transfer-encoding") {
      // SECURITY: two framings are how one request is smuggled inside another.
      if (framing !== "none") return "malformed";
      if (name === "content-length") {
        bodyBytes = readLength(value);
        if (bodyBytes === undefined) return "malformed";
        framing = "length";
        headers.push(rawHeaders[i]!, value);
      } else {
        if (value.toLowerCase() !== "chunked") return "malformed";
        framing = "chunked";
      }
    } else if (looksLikeFraming(name)) return "malformed";
    else if (name === "upgrade") upgrade = value.toLowerCase();
    else if (!connectionHeaders.has(name) && named?.has(name) !== true) headers.push(rawHeaders[i]!, value);
  }
  if (authority === undefined) return "malformed";
  return { method, target, authority, headers, framing, bodyBytes, upgrade };
}

/**
 * Where requests are read, a path must mean one thing. An encoded slash passes where no rule is about paths (those
 * refuse it themselves), because package managers write scoped names with it; decoded, it must still be clear.
 */
export const hasOneReading = (path: string): boolean =>
  path === "*" ||
  canonicalPath(path) !== undefined ||
  canonicalPath(path.replaceAll(/%2f/gi, "/")) !== undefined;

/** The headers that Connection names are for us only; it is rarely more than "keep-alive". */
function connectionNamed(rawHeaders: readonly string[]): Set<string> | undefined {
  let named: Set<string> | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length !== 10 || name.toLowerCase() !== "connection") continue;
    const value = rawHeaders[i + 1]!.toLowerCase();
    if (value === "keep-alive" || value === "close") continue;
    named ??= new Set();
    for (const one of value.split(",")) named.add(one.trim());
  }
  return named;
}

function readHttp2(request: Http2ServerRequest, method: string, target: string): RequestHead | "malformed" {
  const { rawHeaders } = request;
  let authority: string | undefined;
  let bodyBytes: number | undefined;
  const cookies: string[] = [];
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    // SECURITY: the HTTP/2 library refuses these as well; a line end in one would be a header or a request of its own.
    if (!http2Name.test(name) || lineEnds.test(value) || looksLikeFraming(name)) return "malformed";
    if (name === ":authority" || name === "host") {
      if (authority !== undefined && authority !== value) return "malformed";
      authority = value;
    } else if (name.startsWith(":")) continue;
    else if (name === "cookie") cookies.push(value);
    else if (notInHttp2.has(name)) return "malformed";
    else if (!connectionHeaders.has(name)) {
      if (name === "content-length") {
        const isSecond = bodyBytes !== undefined;
        bodyBytes = readLength(value);
        if (bodyBytes === undefined || isSecond) return "malformed";
      }
      headers.push(name, value);
    }
  }
  if (authority === undefined) return "malformed";
  // HTTP/2 splits cookies; HTTP/1.1 knows only one Cookie header.
  if (cookies.length > 0) headers.push("cookie", cookies.join("; "));
  const isEmpty = request.stream.endAfterHeaders;
  // SECURITY: sent on, a length without a body would make the server wait for the next request as that body.
  if (isEmpty && (bodyBytes ?? 0) > 0) return "malformed";
  const framing = isEmpty ? "none" : bodyBytes === undefined ? "chunked" : "length";
  return { method, target, authority, headers, framing, bodyBytes, upgrade: undefined };
}

const http2Name = /^(:(method|scheme|path|authority)|[!#$%&'*+\-.^_`|~\da-z]+)$/;
// eslint-disable-next-line no-control-regex
const lineEnds = /[\r\n\0]/;
const notInHttp2 = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

const readLength = (value: string): number | undefined =>
  /^\d{1,15}$/.test(value) ? Number(value) : undefined;

/** SECURITY: some servers read "Content_Length" as the header that says where the body ends. */
const looksLikeFraming = (name: string): boolean =>
  name.includes("_") && framingNames.has(name.replaceAll("_", "-"));
const framingNames = new Set(["content-length", "transfer-encoding", "host", "connection"]);

/** The headers that say where the body ends, beside a Content-Length of the program's own. */
export function framingFields({ method, framing, bodyBytes }: RequestHead): string[] {
  if (framing === "chunked") return ["Transfer-Encoding", "chunked"];
  // Over HTTP/2, a request that ends with its head may say so once more by its length, and two lengths are refused.
  if (framing === "length" || bodyBytes !== undefined) return [];
  // SECURITY: Node would write an empty body in chunks, and who does not read it takes its "0" for the next request.
  return bodiless.has(method) ? [] : ["Content-Length", "0"];
}

/** Methods for which Node adds no length when there is no body. */
const bodiless = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);

/**
 * Whether a body that has ended arrived whole. SECURITY: HTTP/2 tells a stream that was reset as one that has ended,
 * also one that was reset "without error". Only a stream that is still open at that moment was ended by the program.
 */
export function hasArrivedWhole(request: InboundRequest, head: RequestHead, bytes: number): boolean {
  if (head.bodyBytes !== undefined && head.bodyBytes !== bytes) return false;
  if (!("stream" in request)) return request.complete;
  const { closed, destroyed, aborted } = request.stream;
  return !closed && !destroyed && !aborted;
}

/** An answer's head as the program gets it. */
export interface AnswerHead {
  readonly status: number;
  readonly message: string;
  readonly headers: string[];
}

/** The headers of an answer without those that only concern our connection to the server. */
export function answerHeaders(rawHeaders: readonly string[]): string[] {
  const named = connectionNamed(rawHeaders);
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (connectionHeaders.has(name) || (named?.has(name) === true && name !== "content-length")) continue;
    headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  return headers;
}

/** The head of an answer that turns into a WebSocket, for the socket it goes on with. */
export function upgradeText({ status, message, headers }: AnswerHead): string {
  const lines = [`HTTP/1.1 ${status} ${message}`, "Connection: Upgrade"];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return `${[...lines, "Upgrade: websocket"].join("\r\n")}\r\n\r\n`;
}

type Hints = Record<string, string | string[]> & { link: string | string[] };

/** Early hints of a server, if there is a link in them. */
export function earlyHints(rawHeaders: readonly string[]): Hints | undefined {
  const hints = toHttp2Headers(answerHeaders(rawHeaders));
  return hints["link"] === undefined ? undefined : { ...hints, link: hints["link"] };
}

/** The checks before a body is read: a header after it could contradict the judgement. */
const notInTrailers = new Set([
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "trailer",
  "expect",
  "authorization",
  "cookie",
  "set-cookie",
]);

/** SECURITY: some servers merge trailers into the headers, so those that route, frame or sign in are left out. */
export function trailerFields(rawTrailers: readonly string[]): [string, string][] {
  const fields: [string, string][] = [];
  for (let i = 0; i < rawTrailers.length; i += 2) {
    const name = rawTrailers[i]!.toLowerCase();
    if (connectionHeaders.has(name) || notInTrailers.has(name) || isOverrideHeader(name)) continue;
    fields.push([rawTrailers[i]!, rawTrailers[i + 1]!]);
  }
  return fields;
}

/** Of these each line counts for itself; the lines of others make one list. */
const listedHeaders = new Set(["set-cookie", "link"]);

/** The same for HTTP/2: names in lower case, and no name twice that HTTP/2 knows only once. */
export function toHttp2Headers(headers: readonly string[]): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    const before = result[name];
    const value = headers[i + 1]!;
    if (before === undefined) result[name] = value;
    else if (listedHeaders.has(name)) result[name] = [before, value].flat();
    else result[name] = `${String(before)}, ${value}`;
  }
  return result;
}
