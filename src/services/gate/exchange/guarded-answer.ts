/**
 * A server's answer as the program may see it. Where a secret went into the request, every part of it comes out of the
 * guard; otherwise it is exactly what the server said.
 */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Transform } from "node:stream";
import type { AnswerGuard } from "../../../ports/injection.ts";
import { type AnswerHead, answerHeaders, trailerFields } from "./request-head.ts";

export interface OpenAnswer extends AnswerHead {
  /** The stream that the body goes through; undefined: none. */
  readonly body: Transform | undefined;
}

/** Undefined: the program may see nothing of it. */
export function openAnswer(answer: IncomingMessage, guard: AnswerGuard | undefined): OpenAnswer | undefined {
  const status = answer.statusCode ?? 502;
  const headers = answerHeaders(answer.rawHeaders);
  if (guard === undefined) return { status, message: answer.statusMessage ?? "", headers, body: undefined };
  // SECURITY: packed for the way and not in itself, a body would reach the program as bytes that hide the value.
  const coding = answer.headers["transfer-encoding"]?.toLowerCase() ?? "chunked";
  if (coding !== "chunked") return undefined;
  const opened = guard.open(status, headers);
  // SECURITY: the server chooses the words behind the status, so an echo could hide in them.
  return opened && { status, message: STATUS_CODES[status] ?? "", ...opened };
}

/** Headers beside those of the answer: what comes before it, and after it. */
export function guardedHeaders(
  headers: readonly string[],
  guard: AnswerGuard | undefined,
): readonly string[] {
  if (guard === undefined || headers.length === 0) return headers;
  return guard.open(200, headers)?.headers ?? [];
}

export const guardedTrailers = (
  { rawTrailers }: IncomingMessage,
  guard: AnswerGuard | undefined,
): readonly string[] => guardedHeaders(trailerFields(rawTrailers).flat(), guard);
