/** Gemini CLI's stream-json output and the lines of its hooks, as events. Unknown lines say nothing. */
import type { LineReader } from "../../contract/agent.ts";
import { type AgentEvent, maxSaidText } from "../../contract/agent-events.ts";
import { boundEvent } from "../events/bound-event.ts";
import { type JsonObject, asCount, asObject, asText, parseLine } from "../events/json-line.ts";
import { toolCalls } from "../events/tool-calls.ts";
import { toolDetails } from "../events/tool-details.ts";
import { summariseToolInput } from "../events/tool-summary.ts";
import { saysFileIsNew, writtenFile } from "../events/written-file.ts";

export function readGeminiOutput(): LineReader {
  // Answers come in pieces; what follows one tells that it is whole.
  let message = "";
  let lastSaid = "";
  const files = new Map<string, AgentEvent[]>();
  const finishMessage = (): AgentEvent[] => {
    if (message === "") return [];
    lastSaid = message;
    message = "";
    return [{ kind: "message", role: "agent", text: lastSaid }];
  };
  return (line) => {
    const fields = parseLine(line);
    if (fields === undefined) return [];
    if (fields["type"] === "message" && fields["role"] === "assistant") {
      if (message.length < maxSaidText) message += asText(fields["content"]);
      return fields["delta"] === true ? [] : finishMessage().map(boundEvent);
    }
    return [...finishMessage(), ...outputEvents(fields, lastSaid), ...fileEvents(fields, files)].map(
      boundEvent,
    );
  };
}

function outputEvents(fields: JsonObject, lastSaid: string): AgentEvent[] {
  switch (fields["type"]) {
    case "init":
      return sessionStarted(fields, asText(fields["model"]));
    case "message":
      return [{ kind: "message", role: "person", text: asText(fields["content"]) }];
    case "tool_use":
      return [
        {
          kind: "tool_called",
          id: asText(fields["tool_id"]),
          tool: asText(fields["tool_name"]),
          summary: summariseToolInput(fields["parameters"]),
          ...toolDetails(fields["parameters"]),
        },
      ];
    case "tool_result": {
      const isError = fields["status"] === "error";
      const error = asText(asObject(fields["error"])["message"]);
      return [
        {
          kind: "tool_answered",
          id: asText(fields["tool_id"]),
          isError,
          summary: asText(fields["output"]) || error,
        },
      ];
    }
    case "error":
      return [{ kind: "error", message: asText(fields["message"]), isFatal: false }];
    case "result":
      return resultEvents(fields, lastSaid);
    default:
      return [];
  }
}

/** An answer does not say what the call was about, nor whether the file is a new one. */
function fileEvents(fields: JsonObject, files: Map<string, AgentEvent[]>): readonly AgentEvent[] {
  const id = asText(fields["tool_id"]);
  if (fields["type"] === "tool_use")
    files.set(id, writtenFile(asText(fields["tool_name"]), fields["parameters"], false));
  if (fields["type"] !== "tool_result") return [];
  const written = files.get(id) ?? [];
  files.delete(id);
  return fields["status"] === "success" ? written : [];
}

/** The sums of the whole process, one for each model it asked; the router's model is one of them. */
function resultEvents(fields: JsonObject, lastSaid: string): AgentEvent[] {
  const models = Object.entries(asObject(asObject(fields["stats"])["models"]));
  const usage = models.map(([model, value]): AgentEvent => {
    const stats = asObject(value);
    const input = asCount(stats["input_tokens"]);
    // Its output count leaves thoughts out, which only the total has.
    const output = Math.max(asCount(stats["output_tokens"]), asCount(stats["total_tokens"]) - input);
    const reasoning = output - asCount(stats["output_tokens"]);
    return {
      kind: "usage",
      model,
      usage: { input, output, cached: asCount(stats["cached"]), cacheWrite: 0, reasoning },
    };
  });
  const isError = fields["status"] !== "success";
  const problem = asText(asObject(fields["error"])["message"]);
  const failure: AgentEvent[] = isError ? [{ kind: "error", message: problem, isFatal: true }] : [];
  return [...usage, ...failure, { kind: "turn_done", isError, text: isError ? problem : lastSaid }];
}

const sessionStarted = (fields: JsonObject, model: string): AgentEvent[] => {
  const conversation = asText(fields["session_id"]);
  return conversation === ""
    ? []
    : [{ kind: "session_started", conversation, ...(model !== "" && { model }) }];
};

export function readGeminiHooks(): LineReader {
  const calls = toolCalls();
  return (line) => {
    const fields = parseLine(line);
    return fields === undefined ? [] : hookEvents(fields, calls).map(boundEvent);
  };
}

function hookEvents(fields: JsonObject, calls: ReturnType<typeof toolCalls>): AgentEvent[] {
  const tool = asText(fields["tool_name"]);
  switch (fields["hook_event_name"]) {
    case "SessionStart":
      return sessionStarted(fields, "");
    case "BeforeAgent":
      return [{ kind: "message", role: "person", text: asText(fields["prompt"]) }];
    case "BeforeTool":
      return [
        {
          kind: "tool_called",
          id: calls.open(tool),
          tool,
          summary: summariseToolInput(fields["tool_input"]),
          ...toolDetails(fields["tool_input"]),
        },
      ];
    case "AfterTool": {
      const answer = asObject(fields["tool_response"]);
      const error = asText(asObject(answer["error"])["message"]);
      const summary = error || asText(answer["llmContent"]);
      return [
        { kind: "tool_answered", id: calls.close(tool), isError: error !== "", summary },
        ...(error === "" ? writtenFile(tool, fields["tool_input"], saysFileIsNew(summary)) : []),
      ];
    }
    case "Notification":
      return fields["notification_type"] === "ToolPermission"
        ? [{ kind: "approval_asked", what: asText(fields["message"]) }]
        : [];
    case "AfterAgent":
      return turnEvents(asText(fields["prompt_response"]).trim());
    default:
      return [];
  }
}

/** It says this in place of an answer when the model refused or was interrupted. */
const noAnswer = "[no response text]";

const turnEvents = (text: string): AgentEvent[] =>
  text === noAnswer || text === ""
    ? [{ kind: "turn_done", isError: true, text: "There was no answer from the model." }]
    : [
        { kind: "message", role: "agent", text },
        { kind: "turn_done", isError: false, text },
      ];
