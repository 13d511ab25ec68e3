/** Anthropic Messages. Input is reported in three parts that do not overlap; a stream's last usage is cumulative. */
import { AgentBoxError } from "../../base/errors.ts";
import type { TokenUsage } from "../../contract/model/usage.ts";
import { type JsonObject, asCount, asObject, asText, textsOf } from "./json.ts";
import type { Change, Learned, ModelLanguage } from "./language.ts";

const stops: Readonly<Record<string, Learned["stop"]>> = {
  end_turn: "end",
  stop_sequence: "end",
  tool_use: "tool",
  max_tokens: "length",
  model_context_window_exceeded: "length",
};

/** The least the API takes for `thinking.budget_tokens`. */
const minThinking = 1_024;

/** Fields that an event leaves out keep what an earlier one said. */
function readUsage(before: TokenUsage | undefined, usage: JsonObject): TokenUsage | undefined {
  const output = asCount(usage["output_tokens"]) ?? before?.output;
  const plain =
    asCount(usage["input_tokens"]) ??
    (before === undefined ? undefined : before.input - before.cached - before.cacheWrite);
  if (output === undefined || plain === undefined) return before;
  const cached = asCount(usage["cache_read_input_tokens"]) ?? before?.cached ?? 0;
  const cacheWrite = asCount(usage["cache_creation_input_tokens"]) ?? before?.cacheWrite ?? 0;
  const thinking = asCount(asObject(usage["output_tokens_details"])["thinking_tokens"]);
  return {
    input: plain + cached + cacheWrite,
    output,
    cached,
    cacheWrite,
    reasoning: thinking ?? before?.reasoning ?? 0,
  };
}

/** The price tier of a usage. A tier that the account has agreed on is charged as agreed. */
function readTerms(before: Learned["terms"], usage: JsonObject): Learned["terms"] {
  const isLong = (asCount(asObject(usage["cache_creation"])["ephemeral_1h_input_tokens"]) ?? 0) > 0;
  const { speed, inference_geo } = usage;
  return { ...before, ...textsOf({ speed, inference_geo, cache_ttl: isLong ? "1h" : undefined }) };
}

function learn(before: Learned, event: JsonObject): Learned {
  if (event["type"] === "error")
    return { ...before, error: asText(asObject(event["error"])["type"]) ?? "error" };
  // A stream opens with the message, of which the output is only begun; otherwise it is the message itself.
  const message = event["type"] === "message_start" ? asObject(event["message"]) : event;
  const usage = asObject(message["usage"]);
  const reason = asText(asObject(event["delta"])["stop_reason"] ?? message["stop_reason"]);
  if (asCount(usage["output_tokens"]) === undefined) return before;
  return {
    ...before,
    usage: readUsage(before.usage, usage),
    terms: readTerms(before.terms, usage),
    isFinal: event["type"] !== "message_start",
    stop: reason === undefined ? before.stop : (stops[reason] ?? "other"),
  };
}

/** Thinking must stay below the limit of the whole answer; where it cannot, the answer is made without. */
function lowerThinking(thinking: unknown, maxOutput: number): unknown {
  const { budget_tokens } = asObject(thinking);
  const budget = asCount(budget_tokens);
  if (budget === undefined || budget < maxOutput) return thinking;
  if (maxOutput <= minThinking) return { type: "disabled" };
  return { ...asObject(thinking), budget_tokens: maxOutput - 1 };
}

function rewrite(body: JsonObject, { model, maxOutput }: Change): JsonObject {
  const renamed = { ...body, model };
  if (maxOutput === undefined) return renamed;
  const lowered = { ...renamed, max_tokens: maxOutput };
  if (body["thinking"] === undefined) return lowered;
  return { ...lowered, thinking: lowerThinking(body["thinking"], maxOutput) };
}

export const anthropic: ModelLanguage = {
  api: "anthropic",
  match: (path) =>
    path === "/v1/messages" ? "answer" : path === "/v1/messages/count_tokens" ? "count" : undefined,
  read(body) {
    const model = asText(body["model"]);
    if (model === undefined) throw new AgentBoxError("model.bad_request", "The request names no model.");
    return { model, maxOutput: asCount(body["max_tokens"]) };
  },
  rewrite,
  rewritePath: (path) => path,
  early: ['usage":'],
  late: ['"error":'],
  learn,
};
