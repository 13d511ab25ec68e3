/** Gemini generateContent. The model is in the path; every piece of a stream repeats what is known, the last knows all. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { TokenUsage } from "../../contract/model/usage.ts";
import { type JsonObject, asCount, asObject, asObjects, asText } from "./json.ts";
import type { Change, Learned, ModelLanguage } from "./language.ts";

const operation =
  /^(\/(?:v1|v1beta|v1alpha)\/models\/)([\w.-]+)(:(?:generateContent|streamGenerateContent|countTokens))$/;

function readUsage(usage: JsonObject): TokenUsage | undefined {
  const prompt = asCount(usage["promptTokenCount"]);
  if (prompt === undefined) return undefined;
  const reasoning = asCount(usage["thoughtsTokenCount"]) ?? 0;
  return {
    // Tokens that built-in tools add to the prompt are counted apart, and are input all the same.
    input: prompt + (asCount(usage["toolUsePromptTokenCount"]) ?? 0),
    output: (asCount(usage["candidatesTokenCount"]) ?? 0) + reasoning,
    cached: asCount(usage["cachedContentTokenCount"]) ?? 0,
    cacheWrite: 0,
    reasoning,
  };
}

const stopOf = (reason: string): Learned["stop"] =>
  reason === "STOP" ? "end" : reason === "MAX_TOKENS" ? "length" : "other";

function learn(before: Learned, event: JsonObject): Learned {
  const [candidate = {}] = asObjects(event["candidates"]);
  const parts = asObjects(asObject(candidate["content"])["parts"]);
  const hasCall = before.hasCall === true || parts.some((part) => part["functionCall"] !== undefined);
  const reason = asText(candidate["finishReason"]);
  const stop = reason === undefined ? before.stop : stopOf(reason);
  const usage = readUsage(asObject(event["usageMetadata"]));
  const error = asText(asObject(event["error"])["status"]);
  return {
    ...before,
    hasCall,
    stop: stop === "end" && hasCall ? "tool" : stop,
    ...omitUndefined({ usage }),
    isFinal: before.isFinal === true || reason !== undefined,
    ...omitUndefined({ error }),
  };
}

/** Each field has two spellings, and the vendor takes both: one that is not read here would get past the budget. */
const spellings = {
  generationConfig: "generation_config",
  maxOutputTokens: "max_output_tokens",
  candidateCount: "candidate_count",
  thinkingConfig: "thinking_config",
  thinkingBudget: "thinking_budget",
  generateContentRequest: "generate_content_request",
} as const;

function oneSpelling(fields: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...fields };
  for (const [name, other] of Object.entries(spellings)) {
    if (result[other] === undefined) continue;
    result[name] ??= result[other];
    delete result[other];
  }
  return result;
}

const configOf = (body: JsonObject): JsonObject =>
  oneSpelling(asObject(oneSpelling(body)["generationConfig"]));

/** SECURITY: the vendor reads numbers from texts, too. */
const candidatesOf = (config: JsonObject): number =>
  Math.max(1, asCount(Number(config["candidateCount"] ?? 1)) ?? 1);

/** SECURITY: the path names the model that was judged; a second name in the body must not win over it. */
function withoutOtherModel(body: JsonObject, model: string): JsonObject {
  const { model: _second, ...rest } = oneSpelling(body);
  const inner = rest["generateContentRequest"];
  if (inner === undefined) return rest;
  return { ...rest, generateContentRequest: { ...asObject(inner), model: `models/${model}` } };
}

function rewrite(body: JsonObject, { model, maxOutput }: Change): JsonObject {
  const rest = withoutOtherModel(body, model);
  const config = configOf(body);
  if (maxOutput === undefined)
    return "generationConfig" in rest ? { ...rest, generationConfig: config } : rest;
  const maxOutputTokens = Math.max(1, Math.floor(maxOutput / candidatesOf(config)));
  const thinking = oneSpelling(asObject(config["thinkingConfig"]));
  const budget = asCount(thinking["thinkingBudget"]);
  const isTooMuch = budget !== undefined && budget >= maxOutputTokens;
  const lowered = isTooMuch ? { thinkingConfig: { ...thinking, thinkingBudget: maxOutputTokens } } : {};
  return { ...rest, generationConfig: { ...config, ...lowered, maxOutputTokens } };
}

export const gemini: ModelLanguage = {
  api: "gemini",
  match(path) {
    const verb = operation.exec(path)?.[3];
    return verb === undefined ? undefined : verb === ":countTokens" ? "count" : "answer";
  },
  read(body, path) {
    const model = operation.exec(path)?.[2];
    if (model === undefined) throw new AgentBoxError("model.bad_request", "The path names no model.");
    const config = configOf(body);
    const each = asCount(config["maxOutputTokens"]);
    const choices = candidatesOf(config);
    return { model, choices, maxOutput: each === undefined ? undefined : each * choices };
  },
  rewrite,
  rewritePath: (path, model) =>
    path.replace(
      operation,
      (_, before: string, __, after: string) => before + encodeURIComponent(model) + after,
    ),
  early: ['functionCall":'],
  late: ['"error":', '"finishReason":', '"usageMetadata":'],
  learn,
};
