// Requests that agents make beside the conversation: a title, a classifier that picks the model, a commit message.
import type { Conversation } from "./conversation.ts";
import { type JsonObject, asList, asObject, asText } from "./json.ts";
import type { Step } from "./step.ts";
import { findEditFormat } from "./text-edits.ts";

/** The answer to a side call, undefined if the request is part of the real work. */
export function answerSideCall(conversation: Conversation): Step | undefined {
  const { responseSchema, tools, system, isWarmUp } = conversation;
  if (isWarmUp) return { usage: {} };
  if (responseSchema) return { text: JSON.stringify(exampleOf(responseSchema)) };
  // Without a system prompt it is no agent but a plain request, which the script may answer.
  if (tools.length === 0 && system !== "" && !findEditFormat(conversation)) return { text: "Scripted work" };
  return undefined;
}

/** The smallest value that a JSON Schema accepts, as far as agents use JSON Schema. */
export function exampleOf(schema: JsonObject): unknown {
  if (schema["const"] !== undefined) return schema["const"];
  const [choice] = asList(schema["enum"]);
  if (choice !== undefined) return choice;
  const [variant] = [...asList(schema["anyOf"]), ...asList(schema["oneOf"])];
  if (variant !== undefined) return exampleOf(asObject(variant));
  // Gemini writes its types in capitals; a list of types means any of them.
  const [type] = [schema["type"]].flat();
  switch (asText(type).toLowerCase()) {
    case "string":
      return "scripted";
    case "number":
    case "integer":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
    case "boolean":
      return false;
    case "array":
      return Array.from({ length: Number(schema["minItems"] ?? 0) }, () =>
        exampleOf(asObject(schema["items"])),
      );
    case "null":
      return null;
    default:
      return exampleObject(schema);
  }
}

function exampleObject(schema: JsonObject): JsonObject {
  const properties = asObject(schema["properties"]);
  const names = schema["required"] ? asList(schema["required"]).map(asText) : Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, exampleOf(asObject(properties[name]))]));
}
