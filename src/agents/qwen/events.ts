/** Qwen Code's stream-json output and the lines of its hooks, as events. Unknown lines say nothing. */
import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boundEvent } from "../events/bound-event.ts";
import { type JsonObject, asCount, asList, asObject, asText, parseLine } from "../events/json-line.ts";
import { toolDetails } from "../events/tool-details.ts";
import { summariseToolInput } from "../events/tool-summary.ts";
import { saysFileIsNew, writtenFile } from "../events/written-file.ts";

/** A model that cannot be reached is told as an answer, with success and exit code 0. */
const isApiError = (text: string) => text.trimStart().startsWith("[API Error");

/** Calls that have no answer yet, by id, because an answer does not say what the call was about. */
type OpenCalls = Map<string, JsonObject>;

export function readQwenOutput(): LineReader {
  const calls: OpenCalls = new Map();
  return (line) => {
    const fields = parseLine(line);
    return fields === undefined ? [] : outputEvents(fields, calls).map(boundEvent);
  };
}

function outputEvents(fields: JsonObject, calls: OpenCalls): AgentEvent[] {
  const message = asObject(fields["message"]);
  switch (fields["type"]) {
    case "system":
      return fields["subtype"] === "init" ? sessionStarted(fields) : [];
    case "assistant":
      return [
        ...asList(message["content"]).flatMap((part) => partEvents(asObject(part), calls)),
        ...usageEvents(message),
      ];
    case "user":
      return asList(message["content"]).flatMap((part) => answerEvents(asObject(part), calls));
    case "result":
      return resultEvents(fields);
    default:
      return [];
  }
}

function partEvents(fields: JsonObject, calls: OpenCalls): AgentEvent[] {
  switch (fields["type"]) {
    case "text": {
      const text = asText(fields["text"]);
      if (isApiError(text)) return [{ kind: "error", message: text, isFatal: false }];
      return text === "" ? [] : [{ kind: "message", role: "agent", text }];
    }
    case "thinking":
      return [{ kind: "thinking", text: asText(fields["thinking"]) }];
    case "tool_use":
      calls.set(asText(fields["id"]), fields);
      return [
        {
          kind: "tool_called",
          id: asText(fields["id"]),
          tool: asText(fields["name"]),
          summary: summariseToolInput(fields["input"]),
          ...toolDetails(fields["input"]),
        },
      ];
    default:
      return [];
  }
}

function answerEvents(fields: JsonObject, calls: OpenCalls): AgentEvent[] {
  if (fields["type"] !== "tool_result") return [];
  const id = asText(fields["tool_use_id"]);
  const isError = fields["is_error"] === true;
  const summary = asText(fields["content"]);
  const call = asObject(calls.get(id));
  calls.delete(id);
  const written = isError ? [] : writtenFile(asText(call["name"]), call["input"], saysFileIsNew(summary));
  return [{ kind: "tool_answered", id, isError, summary }, ...written];
}

/** Only the last part of an answer carries its usage. */
function usageEvents(message: JsonObject): AgentEvent[] {
  const usage = asObject(message["usage"]);
  const input = asCount(usage["input_tokens"]);
  const output = asCount(usage["output_tokens"]);
  if (input + output === 0) return [];
  const cached = asCount(usage["cache_read_input_tokens"]);
  const model = asText(message["model"]);
  return [
    {
      kind: "usage",
      usage: { input, output, cached, cacheWrite: 0, reasoning: 0 },
      ...(model !== "" && { model }),
    },
  ];
}

function resultEvents(fields: JsonObject): AgentEvent[] {
  const text = asText(fields["result"]) || asText(asObject(fields["error"])["message"]);
  const isError = fields["is_error"] === true || isApiError(text);
  const failure: AgentEvent[] = isError ? [{ kind: "error", message: text, isFatal: true }] : [];
  return [...failure, { kind: "turn_done", isError, text }];
}

const sessionStarted = (fields: JsonObject): AgentEvent[] => {
  const conversation = asText(fields["session_id"]);
  const model = asText(fields["model"]);
  return conversation === ""
    ? []
    : [{ kind: "session_started", conversation, ...(model !== "" && { model }) }];
};

export function readQwenHooks(): LineReader {
  return (line) => {
    const fields = parseLine(line);
    return fields === undefined ? [] : hookEvents(fields).map(boundEvent);
  };
}

function hookEvents(fields: JsonObject): AgentEvent[] {
  const id = asText(fields["tool_use_id"]);
  const tool = asText(fields["tool_name"]);
  const summary = summariseToolInput(fields["tool_input"]);
  switch (fields["hook_event_name"]) {
    case "SessionStart":
      return sessionStarted(fields);
    case "UserPromptSubmit": {
      // It comes without a prompt when the answers of tools are sent.
      const text = asText(fields["prompt"]);
      return text === "" ? [] : [{ kind: "message", role: "person", text }];
    }
    case "PreToolUse":
      return [{ kind: "tool_called", id, tool, summary, ...toolDetails(fields["tool_input"]) }];
    case "PostToolUse": {
      const answer = asText(asObject(fields["tool_response"])["llmContent"]);
      return [
        { kind: "tool_answered", id, isError: false, summary: answer },
        ...writtenFile(tool, fields["tool_input"], saysFileIsNew(answer)),
      ];
    }
    case "PostToolUseFailure":
      return [{ kind: "tool_answered", id, isError: true, summary: asText(fields["error"]) }];
    case "PermissionRequest":
      return [{ kind: "approval_asked", what: `${tool}: ${summary}` }];
    case "Stop": {
      const text = asText(fields["last_assistant_message"]);
      return [
        ...(text === "" ? [] : [{ kind: "message", role: "agent", text } as const]),
        { kind: "turn_done", isError: isApiError(text), text },
      ];
    }
    case "StopFailure": {
      const message = asText(fields["error_details"]) || asText(fields["error"]);
      return [
        { kind: "error", message, isFatal: false },
        { kind: "turn_done", isError: true, text: message },
      ];
    }
    default:
      return [];
  }
}
