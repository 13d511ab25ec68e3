// OpenAI Responses, over HTTP; the same events go over a WebSocket.
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { ModelApi, WireDocument, WireEvent } from "./api.ts";
import {
  type DeclaredTool,
  type Message,
  mergeNeighbours,
  message,
  readConversation,
} from "./conversation.ts";
import { type JsonObject, asObject, asObjects, asText, parseJson } from "./json.ts";
import { openAiError, openAiText, readFormat } from "./openai.ts";
import { type Answer, splitText } from "./step.ts";
import type { Usage } from "./usage.ts";

const systemRoles: readonly unknown[] = ["system", "developer"];

export const inputItems = (input: unknown): readonly JsonObject[] =>
  typeof input === "string" ? [{ type: "message", role: "user", content: input }] : asObjects(input);

function readItem(item: JsonObject): Message | undefined {
  const id = asText(item["call_id"]) || asText(item["id"]);
  const call = (input: unknown) =>
    message("assistant", { calls: [{ id, name: asText(item["name"]) || asText(item["type"]), input }] });
  switch (item["type"] ?? "message") {
    case "message":
      return message(item["role"] === "assistant" ? "assistant" : "user", {
        text: openAiText(item["content"]),
      });
    case "function_call":
      return call(parseJson(asText(item["arguments"])));
    case "custom_tool_call":
      return call(item["input"]);
    case "local_shell_call":
      return call(item["action"]);
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
      return message("tool", { results: [{ id, text: openAiText(item["output"]) }] });
    default:
      return undefined;
  }
}

function readTool(tool: JsonObject): DeclaredTool[] {
  if (tool["type"] === "namespace") return asObjects(tool["tools"]).flatMap(readTool);
  const kinds: Readonly<Record<string, DeclaredTool["kind"]>> = { function: "function", custom: "freeform" };
  const kind = kinds[asText(tool["type"])] ?? "builtin";
  return [{ name: asText(tool["name"]) || asText(tool["type"]), kind, schema: asObject(tool["parameters"]) }];
}

/** Codex tells some models about their tools in the input. */
const declaresTools = (item: JsonObject): boolean => item["type"] === "additional_tools";

function read(body: JsonObject) {
  const items = inputItems(body["input"]);
  const isSystem = (item: JsonObject) => systemRoles.includes(item["role"]);
  const messages = items.filter((item) => !isSystem(item)).map(readItem);
  const responseSchema = readFormat(asObject(asObject(body["text"])["format"]));
  return readConversation({
    api: "responses",
    model: asText(body["model"]),
    system: [body["instructions"], ...items.filter(isSystem).map((item) => item["content"])]
      .map(openAiText)
      .filter(Boolean)
      .join("\n"),
    messages: mergeNeighbours(messages.filter((one) => one !== undefined)),
    tools: [body, ...items.filter(declaresTools)].flatMap(({ tools }) => asObjects(tools).flatMap(readTool)),
    stream: body["stream"] === true,
    ...omitUndefined({ responseSchema }),
    ...(body["generate"] === false && { isWarmUp: true }),
  });
}

function callItem(call: Answer["calls"][number]): JsonObject {
  const call_id = `call_${call.id}`;
  if ("input" in call)
    return { type: "custom_tool_call", id: `ctc_${call.id}`, call_id, name: call.tool, input: call.input };
  if (call.tool === "local_shell")
    return {
      type: "local_shell_call",
      id: `lsh_${call.id}`,
      call_id,
      action: { type: "exec", env: {}, ...call.arguments },
    };
  const args = JSON.stringify(call.arguments);
  return { type: "function_call", id: `fc_${call.id}`, call_id, name: call.tool, arguments: args };
}

/** The answer's addition to the conversation. */
export function outputItems(answer: Answer): readonly JsonObject[] {
  const summary = [{ type: "summary_text", text: answer.thinking }];
  const content = [{ type: "output_text", text: answer.text, annotations: [], logprobs: [] }];
  return [
    ...(answer.thinking
      ? [{ type: "reasoning", id: `rs_${answer.id}`, summary, encrypted_content: null }]
      : []),
    ...(answer.text ? [{ type: "message", id: `msg_${answer.id}`, role: "assistant", content }] : []),
    ...answer.calls.map(callItem),
  ].map((item) => ({ ...item, status: "completed" }));
}

function usageFields({ input, cached, cacheWrite, output, reasoning }: Usage): JsonObject {
  const total = input + cached + cacheWrite;
  return {
    input_tokens: total,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: total + output,
  };
}

const responseObject = (answer: Answer, rest: JsonObject): JsonObject => ({
  id: `resp_${answer.id}`,
  object: "response",
  created_at: Math.floor(Date.now() / 1000),
  model: answer.model,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  ...rest,
});

const completed = (answer: Answer): JsonObject =>
  responseObject(answer, {
    status: "completed",
    output: outputItems(answer),
    usage: usageFields(answer.usage),
  });

type Emit = (type: string, fields: JsonObject) => JsonObject;

/** A text that arrives in pieces: deltas, then the whole once more. */
function pieces(emit: Emit, type: string, text: string, doneKey: string, position: JsonObject): JsonObject[] {
  const deltas = splitText(text).map((delta) => emit(`${type}.delta`, { ...position, delta }));
  return [...deltas, emit(`${type}.done`, { ...position, [doneKey]: text })];
}

function itemEvents(emit: Emit, item: JsonObject, output_index: number): JsonObject[] {
  const at = { output_index, item_id: item["id"] };
  const part = asObjects(item["content"] ?? item["summary"])[0] ?? {};
  const text = asText(part["text"]);
  switch (item["type"]) {
    case "message": {
      const position = { ...at, content_index: 0 };
      return [
        emit("response.content_part.added", { ...position, part: { ...part, text: "" } }),
        ...pieces(emit, "response.output_text", text, "text", position),
        emit("response.content_part.done", { ...position, part }),
      ];
    }
    case "reasoning": {
      const position = { ...at, summary_index: 0 };
      return [
        emit("response.reasoning_summary_part.added", { ...position, part: { ...part, text: "" } }),
        ...pieces(emit, "response.reasoning_summary_text", text, "text", position),
        emit("response.reasoning_summary_part.done", { ...position, part }),
      ];
    }
    case "function_call":
      return pieces(emit, "response.function_call_arguments", asText(item["arguments"]), "arguments", at);
    case "custom_tool_call":
      return pieces(emit, "response.custom_tool_call_input", asText(item["input"]), "input", at);
    default:
      return [];
  }
}

const opened = (item: JsonObject): JsonObject => ({
  ...item,
  status: "in_progress",
  ...("content" in item && { content: [] }),
  ...("summary" in item && { summary: [] }),
  ...("arguments" in item && { arguments: "" }),
  ...("input" in item && { input: "" }),
});

function stream(answer: Answer): WireEvent[] {
  let sequence_number = 0;
  const emit: Emit = (type, fields) => ({ type, sequence_number: sequence_number++, ...fields });
  const started = responseObject(answer, { status: "in_progress", output: [], usage: null });
  const body = [
    emit("response.created", { response: started }),
    emit("response.in_progress", { response: started }),
    ...outputItems(answer).flatMap((item, output_index) => [
      emit("response.output_item.added", { output_index, item: opened(item) }),
      ...itemEvents(emit, item, output_index),
      emit("response.output_item.done", { output_index, item }),
    ]),
  ];
  const end = emit("response.completed", { response: completed(answer) });
  const event = (data: JsonObject): WireEvent => ({ event: asText(data["type"]), data });
  return [...body.map(event), { ...event(end), usage: answer.usage }];
}

const whole = (answer: Answer): WireDocument => ({ body: completed(answer), usage: answer.usage });

export const responses: ModelApi = {
  name: "responses",
  match: (path) => {
    if (path.endsWith("/responses")) return "answer";
    return path.endsWith("/responses/input_tokens") ? "count" : undefined;
  },
  read,
  stream,
  whole,
  count: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
  error: openAiError,
};
