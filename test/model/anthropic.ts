// Anthropic Messages.
import type { ErrorFault, ModelApi, WireDocument, WireEvent } from "./api.ts";
import { type Message, message, readConversation } from "./conversation.ts";
import { type JsonObject, asObject, asObjects, asText } from "./json.ts";
import { type Answer, splitText } from "./step.ts";
import type { Usage } from "./usage.ts";

/** Content is a string or a list of blocks; only text counts. */
const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : asObjects(content)
        .map((block) => asText(block["text"]))
        .filter(Boolean)
        .join("\n");

function readMessage(raw: JsonObject): Message {
  const blocks = asObjects(raw["content"]);
  const ofType = (type: string) => blocks.filter((block) => block["type"] === type);
  const text = textOf(raw["content"]);
  if (raw["role"] === "assistant") {
    const calls = ofType("tool_use").map(({ id, name, input }) => ({
      id: asText(id),
      name: asText(name),
      input,
    }));
    return message("assistant", { text, calls });
  }
  const results = ofType("tool_result").map((block) => ({
    id: asText(block["tool_use_id"]),
    text: textOf(block["content"]),
  }));
  return message(results.length > 0 ? "tool" : "user", { text, results });
}

function read(body: JsonObject) {
  const messages = asObjects(body["messages"]);
  const format = {
    ...asObject(body["output_format"]),
    ...asObject(asObject(body["output_config"])["format"]),
  };
  const isSystem = (raw: JsonObject) => raw["role"] === "system";
  return readConversation({
    api: "anthropic",
    model: asText(body["model"]),
    system: [body["system"], ...messages.filter(isSystem).map((raw) => raw["content"])]
      .map(textOf)
      .join("\n")
      .trim(),
    messages: messages.filter((raw) => !isSystem(raw)).map(readMessage),
    tools: asObjects(body["tools"]).map((tool) => ({
      name: asText(tool["name"]),
      kind: tool["input_schema"] ? ("function" as const) : ("builtin" as const),
      schema: asObject(tool["input_schema"]),
    })),
    stream: body["stream"] === true,
    ...(format["type"] === "json_schema" && { responseSchema: asObject(format["schema"]) }),
  });
}

const usageFields = ({ input, output, cached, cacheWrite }: Usage): JsonObject => ({
  input_tokens: input,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cached,
  output_tokens: output,
});

const argumentsOf = (call: Answer["calls"][number]): JsonObject =>
  "arguments" in call ? call.arguments : { input: call.input };

const contentOf = (answer: Answer): JsonObject[] => [
  ...(answer.thinking ? [{ type: "thinking", thinking: answer.thinking, signature: "c2NyaXB0ZWQ=" }] : []),
  ...(answer.text ? [{ type: "text", text: answer.text }] : []),
  ...answer.calls.map((call) => ({
    type: "tool_use",
    id: `toolu_${call.id}`,
    name: call.tool,
    input: argumentsOf(call),
  })),
];

const stopReason = (answer: Answer): string => (answer.calls.length > 0 ? "tool_use" : "end_turn");

const envelope = (answer: Answer, rest: JsonObject): JsonObject => ({
  id: `msg_${answer.id}`,
  type: "message",
  role: "assistant",
  model: answer.model,
  stop_sequence: null,
  ...rest,
});

function blockEvents(block: JsonObject, index: number): WireEvent[] {
  const event = (type: string, rest: JsonObject): WireEvent => ({
    event: type,
    data: { type, index, ...rest },
  });
  const start = (content_block: JsonObject) => event("content_block_start", { content_block });
  const delta = (fields: JsonObject) => event("content_block_delta", { delta: fields });
  const pieces = (text: unknown, wrap: (piece: string) => JsonObject) =>
    splitText(asText(text)).map((piece) => delta(wrap(piece)));
  const stop = event("content_block_stop", {});
  switch (block["type"]) {
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...pieces(block["thinking"], (thinking) => ({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block["signature"] }),
        stop,
      ];
    case "tool_use":
      return [
        start({ ...block, input: {} }),
        ...pieces(JSON.stringify(block["input"]), (partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
        stop,
      ];
    default:
      return [
        start({ type: "text", text: "" }),
        ...pieces(block["text"], (text) => ({ type: "text_delta", text })),
        stop,
      ];
  }
}

/** As the vendor does, the first event already counts one token of output, and the last repeats all counts. */
function stream(answer: Answer): WireEvent[] {
  const { input, output, cached, cacheWrite } = answer.usage;
  const early = Math.min(1, output);
  const message = envelope(answer, {
    content: [],
    stop_reason: null,
    usage: usageFields({ ...answer.usage, output: early }),
  });
  return [
    {
      event: "message_start",
      data: { type: "message_start", message },
      usage: { input, cached, cacheWrite, output: early },
    },
    { event: "ping", data: { type: "ping" } },
    ...contentOf(answer).flatMap(blockEvents),
    {
      event: "message_delta",
      data: {
        type: "message_delta",
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: usageFields(answer.usage),
      },
      usage: { output: output - early },
    },
    { event: "message_stop", data: { type: "message_stop" } },
  ];
}

function whole(answer: Answer): WireDocument {
  const body = envelope(answer, {
    content: contentOf(answer),
    stop_reason: stopReason(answer),
    usage: usageFields(answer.usage),
  });
  const { reasoning: _unsaid, ...usage } = answer.usage;
  return { body, usage };
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const error = ({ status, message }: ErrorFault): JsonObject => ({
  type: "error",
  error: { type: errorTypes[status] ?? "api_error", message: message ?? `Scripted error ${status}` },
  request_id: "req_scripted",
});

export const anthropic: ModelApi = {
  name: "anthropic",
  match: (path) => {
    if (path.endsWith("/v1/messages")) return "answer";
    return path.endsWith("/v1/messages/count_tokens") ? "count" : undefined;
  },
  read,
  stream,
  whole,
  count: (tokens) => ({ input_tokens: tokens }),
  error,
};
