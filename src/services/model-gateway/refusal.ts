/** The gateway's refusals: the vendor's own error shape, so that every agent can show them. */
import { STATUS_CODES } from "node:http";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { ModelProvider, ProviderApi } from "../../contract/model/api.ts";
import type { Logger } from "../../host/logger.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { JsonObject } from "./json.ts";

const anthropicTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
};

const geminiStates: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  413: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  502: "UNAVAILABLE",
};

type Shape = (error: {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}) => JsonObject;

const openAiShape: Shape = ({ status, code, message }) => ({
  error: {
    message,
    type: status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error",
    param: null,
    code,
  },
});

const shapes: Readonly<Record<ProviderApi, Shape>> = {
  anthropic: ({ status, message }) => ({
    type: "error",
    error: { type: anthropicTypes[status] ?? "api_error", message },
  }),
  openai: openAiShape,
  gemini: ({ status, message }) => ({
    error: { code: status, message, status: geminiStates[status] ?? "INTERNAL" },
  }),
};

/** Without a provider the API is unknown; all three look for a message in the same field. */
const anyShape: Shape = (error) => ({ type: "error", ...openAiShape(error) });

export interface Refusal {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: JsonObject;
}

/** One sentence, what to do, and the code: all an agent shows is the message. */
const refusalText = ({ message, hint, code }: AgentBoxError): string =>
  `${message}${hint === undefined ? "" : ` ${hint}`} (${code})`;

export function refusalOf(api: ProviderApi | undefined, error: AgentBoxError): Refusal {
  const { status, code } = error;
  const shape = api === undefined ? anyShape : shapes[api];
  return {
    status,
    headers: [
      "content-type",
      "application/json",
      "cache-control",
      "no-store",
      "x-agentbox",
      "refused",
      // The box is paused a moment later; once its budget is raised, the agent's own retry goes through.
      ...(code === "budget.exhausted" ? ["retry-after", "1"] : []),
    ],
    body: shape({ status, code, message: refusalText(error) }),
  };
}

/** The same on a WebSocket that is open. */
export const refusalEvent = (error: AgentBoxError): string =>
  JSON.stringify({
    type: "error",
    status: error.status,
    ...openAiShape({ status: error.status, code: error.code, message: refusalText(error) }),
  });

/** The same for a socket that no HTTP server holds any more. */
export function answerText(status: number, headers: readonly string[], body: string): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Error"}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(`content-length: ${Buffer.byteLength(body)}`, "connection: close");
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** The record of a request whose program went away before it was answered. */
export const leftStatus = 499;
export const leftError = "client_closed";

/** SECURITY: what was not meant to be said may hold anything, so the program learns only that it happened. */
export const toRefusal = (error: unknown): AgentBoxError =>
  error instanceof AgentBoxError
    ? error
    : new AgentBoxError("internal.unexpected", "The model gateway failed.", { cause: error });

/** Details that the program is not told: they may name addresses of the host. */
export function logCause(
  logger: Logger,
  { name }: GateBox,
  provider: ModelProvider | undefined,
  { code, cause }: AgentBoxError,
): void {
  if (cause === undefined) return;
  const facts = { box: name, provider: provider?.name, code, cause: messageOf(cause) };
  logger.warn(facts, "a model request failed");
}
