/** Answers to a program in a box, over HTTP/1.1 or HTTP/2: the server's as it is, or ours. */
import type { OutgoingHttpHeader, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { type Denial, denialAnswer } from "./denial.ts";
import { type AnswerHead, type InboundRequest, earlyHints, toHttp2Headers } from "./request-head.ts";

export type OutboundResponse = ServerResponse | Http2ServerResponse;

/** The answer has lost its reader. An answer over HTTP/2 does not say so itself, although its type promises it. */
export const isGone = (response: OutboundResponse): boolean =>
  "stream" in response ? response.stream.destroyed || response.stream.closed : response.destroyed;

/**
 * Whether something may be said before the answer. SECURITY: Node throws where a stream is gone, and nothing would catch
 * that. Where answers to earlier requests are still to come, it would write the words behind the head of this answer.
 */
const mayPrecede = (response: OutboundResponse): boolean =>
  !isGone(response) && !response.headersSent && ("stream" in response || response.socket !== null);

export function writeContinue(response: OutboundResponse): void {
  if (mayPrecede(response)) response.writeContinue();
}

export function writeServerHead(
  response: OutboundResponse,
  { status, message, headers }: AnswerHead,
  isUpgrade: boolean,
): void {
  if ("stream" in response) response.writeHead(status, toHttp2Headers(headers));
  else {
    // The answer is the server's: no Date or Connection of ours beyond what framing needs.
    response.sendDate = false;
    if (isUpgrade) headers.push("Connection", "close");
    response.writeHead(status, message, headers);
  }
}

export function writeHints(response: OutboundResponse, status: number, rawHeaders: readonly string[]): void {
  const hints = status === 103 ? earlyHints(rawHeaders) : undefined;
  if (hints === undefined || !mayPrecede(response)) return;
  try {
    response.writeEarlyHints(hints);
  } catch {
    // Node takes only links of one form; a hint that it does not take is not passed on.
  }
}

export function writeDenial(request: InboundRequest, response: OutboundResponse, denial: Denial): void {
  if (isGone(response) || response.headersSent) return;
  const { status, phrase, headers, body } = denialAnswer(denial, request.headers["user-agent"]);
  // The server's head may have failed half-way; nothing of it belongs to our answer.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  if ("stream" in response) response.writeHead(status, toHttp2Headers(headers));
  // The rest of the request is not read, so the connection cannot carry another.
  else response.writeHead(status, phrase, [...headers, "connection", "close"] as OutgoingHttpHeader[]);
  response.end(request.method === "HEAD" ? "" : body);
  request.resume();
}
