/** OpenAI Responses, over SSE and WebSocket: the last event holds the whole response with its usage. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { TokenUsage } from "../../contract/model/usage.ts";
import { type JsonObject, asCount, asObject, asObjects, asText, textsOf } from "./json.ts";
import type { Asked, Learned, ModelLanguage } from "./language.ts";

function readUsage(usage: JsonObject): TokenUsage | undefined {
  const input = asCount(usage["input_tokens"]);
  const output = asCount(usage["output_tokens"]);
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cached: asCount(asObject(usage["input_tokens_details"])["cached_tokens"]) ?? 0,
    cacheWrite: asCount(asObject(usage["input_tokens_details"])["cache_write_tokens"]) ?? 0,
    reasoning: asCount(asObject(usage["output_tokens_details"])["reasoning_tokens"]) ?? 0,
  };
}

function readStop(response: JsonObject): Learned["stop"] {
  const reason = asText(asObject(response["incomplete_details"])["reason"]);
  if (reason !== undefined) return reason === "max_output_tokens" ? "length" : "other";
  if (response["status"] !== undefined && response["status"] !== "completed") return "other";
  const callsTool = asObjects(response["output"]).some(({ type }) => asText(type)?.endsWith("_call"));
  return callsTool ? "tool" : "end";
}

const tierOf = ({ service_tier }: JsonObject): Learned["terms"] => textsOf({ service_tier });

function learn(before: Learned, event: JsonObject): Learned {
  const response = event["response"] === undefined ? event : asObject(event["response"]);
  const failure = asObject(response["error"] ?? event["error"]);
  const error = asText(failure["code"]) ?? asText(failure["type"]);
  const isError = error !== undefined || event["type"] === "error" || event["type"] === "response.failed";
  const usage = readUsage(asObject(response["usage"]));
  return {
    ...before,
    ...(usage === undefined
      ? {}
      : { usage, isFinal: true, stop: readStop(response), terms: tierOf(response) }),
    ...(isError ? { error: error ?? "error" } : {}),
  };
}

/** An item that only names another, which the vendor has kept. */
const isReference = (item: JsonObject): boolean =>
  item["type"] === "item_reference" || ((item["type"] ?? null) === null && "id" in item && !("role" in item));

function read(body: JsonObject): Asked {
  const model = asText(body["model"]);
  if (model === undefined) throw new AgentBoxError("model.bad_request", "The request names no model.");
  // SECURITY: its answer would be made after this request is over, and would not be counted. Servers take texts for it,
  // too.
  if ((body["background"] ?? false) !== false) {
    throw new AgentBoxError("model.bad_request", "Answers in the background cannot be metered.", {
      hint: "Send the request without background.",
    });
  }
  // SECURITY: a few bytes can stand for all that was said before.
  const names = ["previous_response_id", "conversation"] as const;
  const isContinued =
    names.some((name) => (body[name] ?? null) !== null) || asObjects(body["input"]).some(isReference);
  return { model, maxOutput: asCount(body["max_output_tokens"]), isContinued };
}

const matches: Readonly<Record<string, "answer" | "count">> = {
  "/v1/responses": "answer",
  "/v1/responses/compact": "answer",
  "/v1/responses/input_tokens": "count",
};

/**
 * The messages permitted on a WebSocket beside `response.create`. SECURITY: none of them is passed on, because the
 * vendor answers a wrong one with an error, which would look like the end of the answer in progress, and the rest would
 * come for free.
 */
export const signals: ReadonlySet<string> = new Set(["response.cancel", "response.processed"]);

/** Ends what a `response.create` began. */
export const lastEvents: ReadonlySet<unknown> = new Set([
  "response.completed",
  "response.failed",
  "response.incomplete",
  "response.cancelled",
  "error",
]);

export const openAiResponses: ModelLanguage = {
  api: "openai-responses",
  match: (path) => matches[path],
  read,
  rewrite: (body, { model, maxOutput }) => ({
    ...body,
    model,
    ...omitUndefined({ max_output_tokens: maxOutput }),
  }),
  rewritePath: (path) => path,
  early: ['usage":'],
  late: ['"error":'],
  learn,
};
