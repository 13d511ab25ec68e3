// The common part of the two APIs of OpenAI.
import type { ErrorFault } from "./api.ts";
import { type JsonObject, asObject, asObjects, asText } from "./json.ts";

const errorTypes: Readonly<Record<number, { type: string; code: string | null }>> = {
  400: { type: "invalid_request_error", code: null },
  401: { type: "invalid_request_error", code: "invalid_api_key" },
  403: { type: "invalid_request_error", code: "unsupported_country_region_territory" },
  404: { type: "invalid_request_error", code: "model_not_found" },
  429: { type: "requests", code: "rate_limit_exceeded" },
};

export const openAiError = ({ status, message }: ErrorFault): JsonObject => ({
  error: {
    message: message ?? `Scripted error ${status}`,
    param: null,
    ...(errorTypes[status] ?? { type: "server_error", code: null }),
  },
});

/** Content is a string or a list of parts, whose types differ but whose text is called text. */
export const openAiText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : asObjects(content)
        .map((part) => asText(part["text"]))
        .filter(Boolean)
        .join("\n");

/** `{type: "json_schema", …}`; the schema lies one level deeper in Chat Completions. */
export function readFormat(format: JsonObject): JsonObject | undefined {
  if (format["type"] === "json_object") return {};
  if (format["type"] !== "json_schema") return undefined;
  return asObject(format["schema"] ?? asObject(format["json_schema"])["schema"]);
}
