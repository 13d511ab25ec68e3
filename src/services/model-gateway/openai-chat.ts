/** OpenAI Chat Completions, also as compatible servers speak it. A stream says its usage only when it is asked to. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { TokenUsage } from "../../contract/model/usage.ts";
import { type JsonObject, asCount, asObject, asObjects, asText, textsOf } from "./json.ts";
import type { Asked, Change, Learned, ModelLanguage } from "./language.ts";

const stops: Readonly<Record<string, Learned["stop"]>> = {
  stop: "end",
  tool_calls: "tool",
  function_call: "tool",
  length: "length",
};

function readUsage(usage: JsonObject): TokenUsage | undefined {
  const input = asCount(usage["prompt_tokens"]);
  const output = asCount(usage["completion_tokens"]) ?? (input === undefined ? undefined : 0);
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cached: asCount(asObject(usage["prompt_tokens_details"])["cached_tokens"]) ?? 0,
    cacheWrite: asCount(asObject(usage["prompt_tokens_details"])["cache_write_tokens"]) ?? 0,
    reasoning: asCount(asObject(usage["completion_tokens_details"])["reasoning_tokens"]) ?? 0,
  };
}

function learn(before: Learned, event: JsonObject): Learned {
  const usage = readUsage(asObject(event["usage"]));
  const reasons = asObjects(event["choices"]).map((choice) => asText(choice["finish_reason"]));
  const reason = reasons.find((one) => one !== undefined);
  const failure = asObject(event["error"]);
  const error = asText(failure["code"]) ?? asText(failure["type"]);
  return {
    ...before,
    ...(usage === undefined
      ? {}
      : { usage, isFinal: true, terms: textsOf({ service_tier: event["service_tier"] }) }),
    ...(reason === undefined ? {} : { stop: stops[reason] ?? "other" }),
    ...omitUndefined({ error }),
  };
}

/** The names of the limit at the vendor and at servers that are compatible, of which each has its own favourite. */
const limitNames = [
  "max_tokens",
  "max_completion_tokens",
  "max_new_tokens",
  "max_output_tokens",
  "n_predict",
];

const statedLimits = (body: JsonObject): readonly string[] =>
  limitNames.filter((name) => (body[name] ?? null) !== null);

/** How many answers are asked for: each may be as long as the limit says. */
const choicesOf = (body: JsonObject): number => Math.max(1, asCount(body["n"]) ?? 1);

function read(body: JsonObject): Asked {
  const model = asText(body["model"]);
  if (model === undefined) throw new AgentBoxError("model.bad_request", "The request names no model.");
  // SECURITY: some compatible services take a list of other models to fall back to, past the allow-list.
  if (body["models"] !== undefined) {
    throw new AgentBoxError("model.bad_request", "A request may name one model only.", {
      hint: "Send the request without models.",
    });
  }
  const limits = statedLimits(body).map((name) => asCount(body[name]));
  const stated = limits.filter((limit) => limit !== undefined);
  // SECURITY: servers also read numbers from texts, and take -1 for no limit at all.
  const isKnown = stated.length > 0 && stated.length === limits.length;
  const choices = choicesOf(body);
  return { model, choices, maxOutput: isKnown ? Math.max(...stated) * choices : undefined };
}

/** The vendor's newer models take only the new name; many compatible servers know only the old one. */
function limitFields(body: JsonObject, { maxOutput, isVendor }: Change): JsonObject {
  if (maxOutput === undefined) return {};
  const each = Math.max(1, Math.floor(maxOutput / choicesOf(body)));
  const stated = statedLimits(body);
  const names = stated.length > 0 ? stated : [isVendor ? "max_completion_tokens" : "max_tokens"];
  return Object.fromEntries(names.map((name) => [name, Math.min(each, asCount(body[name]) ?? each)]));
}

function rewrite(body: JsonObject, change: Change): JsonObject {
  const changed = { ...body, model: change.model, ...limitFields(body, change) };
  if (body["stream"] !== true) return changed;
  return { ...changed, stream_options: { ...asObject(body["stream_options"]), include_usage: true } };
}

export const openAiChat: ModelLanguage = {
  api: "openai-chat",
  match: (path) => (path === "/v1/chat/completions" ? "answer" : undefined),
  read,
  rewrite,
  rewritePath: (path) => path,
  early: [],
  late: ['"error":', '"finish_reason":', '"usage":'],
  learn,
};
