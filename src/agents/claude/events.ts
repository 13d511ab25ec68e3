/** Claude Code's stream-json output as events. Unknown lines say nothing. */
import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boundEvent } from "../events/bound-event.ts";
import { fileOfClaudeAnswer } from "../events/changed-files.ts";
import { type JsonObject, asCount, asList, asObject, asText, parseLine } from "../events/json-line.ts";
import { toolDetails } from "../events/tool-details.ts";
import { summariseToolInput } from "../events/tool-summary.ts";

export const readClaudeOutput = (): LineReader => (line) => {
  const fields = parseLine(line);
  return fields === undefined ? [] : outputEvents(fields).map(boundEvent);
};

function outputEvents(fields: JsonObject): AgentEvent[] {
  const parts = asList(asObject(fields["message"])["content"]).map(asObject);
  switch (fields["type"]) {
    case "system":
      return systemEvents(fields);
    case "assistant":
      return parts.flatMap(saidEvents);
    case "user":
      return [...parts.flatMap(answerEvents), ...fileOfClaudeAnswer(asObject(fields["tool_use_result"]))];
    case "result":
      return resultEvents(fields);
    default:
      return [];
  }
}

function systemEvents(fields: JsonObject): AgentEvent[] {
  const conversation = asText(fields["session_id"]);
  if (fields["subtype"] === "init" && conversation !== "")
    return [{ kind: "session_started", conversation, model: asText(fields["model"]) }];
  if (fields["subtype"] !== "api_retry") return [];
  const reason = [asCount(fields["error_status"]), asText(fields["error"])].filter(Boolean).join(" ");
  const attempt = `${asCount(fields["attempt"])} of ${asCount(fields["max_retries"])}`;
  return [
    { kind: "error", message: `The model did not answer (${reason}); retry ${attempt}.`, isFatal: false },
  ];
}

function saidEvents(part: JsonObject): AgentEvent[] {
  const { type, text, thinking, id, name, input } = part;
  if (type === "text" && asText(text) !== "") return [{ kind: "message", role: "agent", text: asText(text) }];
  if (type === "thinking" && asText(thinking) !== "") return [{ kind: "thinking", text: asText(thinking) }];
  if (type !== "tool_use") return [];
  const summary = summariseToolInput(input);
  return [{ kind: "tool_called", id: asText(id), tool: asText(name), summary, ...toolDetails(input) }];
}

function answerEvents(part: JsonObject): AgentEvent[] {
  const { type, tool_use_id, is_error, content } = part;
  if (type !== "tool_result") return [];
  const texts = asList(content).map((one) => asText(asObject(one)["text"]));
  const summary = (asText(content) || texts.filter(Boolean).join("\n")).trim();
  return [{ kind: "tool_answered", id: asText(tool_use_id), isError: is_error === true, summary }];
}

function resultEvents(fields: JsonObject): AgentEvent[] {
  const { input_tokens, output_tokens, ...cache } = asObject(fields["usage"]);
  const cached = asCount(cache["cache_read_input_tokens"]);
  const cacheWrite = asCount(cache["cache_creation_input_tokens"]);
  const input = asCount(input_tokens) + cached + cacheWrite;
  const usage = { input, output: asCount(output_tokens), cached, cacheWrite, reasoning: 0 };
  const text =
    asText(fields["result"]) || asList(fields["errors"]).map(asText).join("\n") || asText(fields["subtype"]);
  return [
    ...(input > 0 ? [{ kind: "usage", usage } as const] : []),
    { kind: "turn_done", isError: fields["is_error"] === true, text },
  ];
}
