// Gemini generateContent and streamGenerateContent.
import type { ErrorFault, ModelApi, WireDocument, WireEvent } from "./api.ts";
import { type Message, message, readConversation } from "./conversation.ts";
import { type JsonObject, asObject, asObjects, asText } from "./json.ts";
import { type Answer, splitText } from "./step.ts";
import type { Usage } from "./usage.ts";

const operation = /\/(v1|v1beta|v1alpha)\/models\/([^/:?]+):(\w+)/;

const textOf = (parts: readonly JsonObject[]): string =>
  parts
    .filter((part) => part["thought"] !== true)
    .map((part) => asText(part["text"]))
    .filter(Boolean)
    .join("\n");

function readMessage(raw: JsonObject): Message {
  const parts = asObjects(raw["parts"]);
  const pick = (key: string) => parts.filter((part) => part[key]).map((part) => asObject(part[key]));
  const text = textOf(parts);
  if (raw["role"] === "model") {
    const calls = pick("functionCall").map(({ id, name, args }) => ({
      id: asText(id),
      name: asText(name),
      input: args,
    }));
    return message("assistant", { text, calls });
  }
  const results = pick("functionResponse").map(({ id, name, response }) => ({
    id: asText(id) || asText(name),
    text: JSON.stringify(response),
  }));
  return message(results.length > 0 ? "tool" : "user", { text, results });
}

function read(body: JsonObject, url: string) {
  const [, , model = "", verb = ""] = operation.exec(url) ?? [];
  const config = asObject(body["generationConfig"]);
  const wantsJson = config["responseMimeType"] === "application/json";
  const declarations = asObjects(body["tools"]).flatMap((tool) => asObjects(tool["functionDeclarations"]));
  return readConversation({
    api: "gemini",
    model,
    system: textOf(asObjects(asObject(body["systemInstruction"])["parts"])),
    messages: asObjects(body["contents"]).map(readMessage),
    tools: declarations.map((tool) => ({
      name: asText(tool["name"]),
      kind: "function",
      schema: asObject(tool["parametersJsonSchema"] ?? tool["parameters"]),
    })),
    stream: verb === "streamGenerateContent",
    ...(wantsJson && {
      responseSchema: asObject(config["responseJsonSchema"] ?? config["responseSchema"]),
    }),
  });
}

function usageFields({ input, cached, cacheWrite, output, reasoning }: Usage): JsonObject {
  const prompt = input + cached + cacheWrite;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: prompt + output,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  };
}

const argumentsOf = (call: Answer["calls"][number]): JsonObject =>
  "arguments" in call ? call.arguments : { input: call.input };

const callParts = (answer: Answer): JsonObject[] =>
  answer.calls.map((call) => ({ functionCall: { name: call.tool, args: argumentsOf(call) } }));

const frame = (
  answer: Answer,
  parts: readonly JsonObject[],
  rest: JsonObject,
  usage: JsonObject,
): JsonObject => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...rest }],
  usageMetadata: usage,
  modelVersion: answer.model,
  responseId: answer.id,
});

/** As the vendor does, every chunk repeats what is known so far; only the last one has it all. */
function stream(answer: Answer): WireEvent[] {
  const { input, cached, cacheWrite, output, reasoning } = answer.usage;
  const early = usageFields({ ...answer.usage, output: 0, reasoning: 0 });
  const parts: JsonObject[] = [
    ...splitText(answer.thinking).map((text) => ({ text, thought: true })),
    ...splitText(answer.text).map((text) => ({ text })),
    ...callParts(answer),
  ];
  const events = parts.map((part): WireEvent => ({ data: frame(answer, [part], {}, early) }));
  const end = frame(answer, [{ text: "" }], { finishReason: "STOP" }, usageFields(answer.usage));
  const [first, ...others] = [...events, { data: end }].map(({ data }) => ({ data }));
  const promptUsage = { input: input + cacheWrite, cached };
  const outputUsage = { output, reasoning };
  if (!first || others.length === 0) return [{ data: end, usage: { ...promptUsage, ...outputUsage } }];
  return [{ ...first, usage: promptUsage }, ...others.slice(0, -1), { data: end, usage: outputUsage }];
}

function whole(answer: Answer): WireDocument {
  const { usage } = answer;
  const parts = [
    ...(answer.thinking ? [{ text: answer.thinking, thought: true }] : []),
    ...(answer.text ? [{ text: answer.text }] : []),
    ...callParts(answer),
  ];
  return {
    body: frame(answer, parts, { finishReason: "STOP" }, usageFields(usage)),
    usage: { ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0 },
  };
}

const errorStates: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

function error({ status, message, retryAfterSeconds }: ErrorFault): JsonObject {
  const retry = {
    "@type": "type.googleapis.com/google.rpc.RetryInfo",
    retryDelay: `${retryAfterSeconds ?? 0}s`,
  };
  return {
    error: {
      code: status,
      message: message ?? `Scripted error ${status}`,
      status: errorStates[status] ?? "INTERNAL",
      ...(retryAfterSeconds !== undefined && { details: [retry] }),
    },
  };
}

export const gemini: ModelApi = {
  name: "gemini",
  match: (path) => {
    const verb = operation.exec(path)?.[3];
    if (verb === "generateContent" || verb === "streamGenerateContent") return "answer";
    return verb === "countTokens" ? "count" : undefined;
  },
  read,
  stream,
  whole,
  count: (tokens) => ({ totalTokens: tokens }),
  error,
};
