// OpenAI Chat Completions.
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { ModelApi, WireDocument, WireEvent } from "./api.ts";
import { type Message, mergeNeighbours, message, readConversation } from "./conversation.ts";
import { type JsonObject, asObject, asObjects, asText, parseJson } from "./json.ts";
import { openAiError, openAiText, readFormat } from "./openai.ts";
import { type Answer, splitText } from "./step.ts";
import type { Usage } from "./usage.ts";

const systemRoles: readonly unknown[] = ["system", "developer"];

function readMessage(raw: JsonObject): Message {
  const text = openAiText(raw["content"]);
  if (raw["role"] === "tool")
    return message("tool", { results: [{ id: asText(raw["tool_call_id"]), text }] });
  if (raw["role"] !== "assistant") return message("user", { text });
  const calls = asObjects(raw["tool_calls"]).map((call) => {
    const { name, arguments: args } = asObject(call["function"]);
    return { id: asText(call["id"]), name: asText(name), input: parseJson(asText(args)) };
  });
  return message("assistant", { text, calls });
}

function read(body: JsonObject) {
  const messages = asObjects(body["messages"]);
  const isSystem = (raw: JsonObject) => systemRoles.includes(raw["role"]);
  const responseSchema = readFormat(asObject(body["response_format"]));
  return readConversation({
    api: "chat",
    model: asText(body["model"]),
    system: messages
      .filter(isSystem)
      .map((raw) => openAiText(raw["content"]))
      .join("\n"),
    messages: mergeNeighbours(messages.filter((raw) => !isSystem(raw)).map(readMessage)),
    tools: asObjects(body["tools"]).map((tool) => {
      const { name, parameters } = asObject(tool["function"]);
      return { name: asText(name), kind: "function" as const, schema: asObject(parameters) };
    }),
    stream: body["stream"] === true,
    ...omitUndefined({ responseSchema }),
  });
}

function usageFields({ input, cached, cacheWrite, output, reasoning }: Usage): JsonObject {
  const prompt = input + cached + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  };
}

/** Writing to the cache is not reported apart, so a reader sees it as input. */
const visible = (usage: Usage): Usage => ({
  ...usage,
  input: usage.input + usage.cacheWrite,
  cacheWrite: 0,
});

const head = (answer: Answer, object: string): JsonObject => ({
  id: `chatcmpl-${answer.id}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: answer.model,
});

const argumentsOf = (call: Answer["calls"][number]): string =>
  JSON.stringify("arguments" in call ? call.arguments : { input: call.input });

const finishReason = (answer: Answer): string => (answer.calls.length > 0 ? "tool_calls" : "stop");

function callDeltas(call: Answer["calls"][number], index: number): JsonObject[] {
  const opening = {
    index,
    id: `call_${call.id}`,
    type: "function",
    function: { name: call.tool, arguments: "" },
  };
  const pieces = splitText(argumentsOf(call)).map((piece) => ({ index, function: { arguments: piece } }));
  return [opening, ...pieces].map((part) => ({ tool_calls: [part] }));
}

function stream(answer: Answer, request: JsonObject): WireEvent[] {
  const wantsUsage = asObject(request["stream_options"])["include_usage"] === true;
  const chunk = (rest: JsonObject): JsonObject => ({
    ...head(answer, "chat.completion.chunk"),
    ...(wantsUsage && { usage: null }),
    ...rest,
  });
  const delta = (fields: JsonObject, finish_reason: string | null = null): WireEvent => ({
    data: chunk({ choices: [{ index: 0, delta: fields, finish_reason }] }),
  });
  const usage: WireEvent = {
    data: chunk({ choices: [], usage: usageFields(answer.usage) }),
    usage: visible(answer.usage),
  };
  return [
    delta({ role: "assistant", content: "" }),
    ...splitText(answer.thinking).map((reasoning_content) => delta({ reasoning_content })),
    ...splitText(answer.text).map((content) => delta({ content })),
    ...answer.calls.flatMap(callDeltas).map((fields) => delta(fields)),
    delta({}, finishReason(answer)),
    ...(wantsUsage ? [usage] : []),
    { data: "[DONE]" },
  ];
}

function whole(answer: Answer): WireDocument {
  const calls = answer.calls.map((call) => ({
    id: `call_${call.id}`,
    type: "function",
    function: { name: call.tool, arguments: argumentsOf(call) },
  }));
  const reply = {
    role: "assistant",
    content: answer.text || null,
    refusal: null,
    ...(answer.thinking && { reasoning_content: answer.thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const body = {
    ...head(answer, "chat.completion"),
    choices: [{ index: 0, message: reply, finish_reason: finishReason(answer), logprobs: null }],
    usage: usageFields(answer.usage),
  };
  return { body, usage: visible(answer.usage) };
}

export const chat: ModelApi = {
  name: "chat",
  match: (path) => (path.endsWith("/chat/completions") ? "answer" : undefined),
  read,
  stream,
  whole,
  count: (tokens) => ({ input_tokens: tokens }),
  error: openAiError,
};
