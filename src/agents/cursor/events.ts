import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boundEvent } from "../events/bound-event.ts";
import { type JsonObject, asList, asObject, asText, parseLine } from "../events/json-line.ts";
import { toolDetails } from "../events/tool-details.ts";

/** Reads `--output-format stream-json`, as Cursor documents it; what is not documented says nothing. */
export const readCursorOutput = (): LineReader => (text) => {
  const line = parseLine(text);
  return line ? eventsOf(line).map(boundEvent) : [];
};

function eventsOf(line: JsonObject): readonly AgentEvent[] {
  switch (line["type"]) {
    case "system":
      return line["subtype"] === "init" ? started(line) : [];
    case "user":
      return message("person", line);
    case "assistant":
      return message("agent", line);
    case "tool_call":
      return line["subtype"] === "started"
        ? [called(line)]
        : line["subtype"] === "completed"
          ? answered(line)
          : [];
    case "result": {
      const text = asText(line["result"]);
      return [{ kind: "turn_done", isError: line["is_error"] === true, ...(text && { text }) }];
    }
    default:
      return [];
  }
}

function started(line: JsonObject): AgentEvent[] {
  const conversation = asText(line["session_id"]);
  const model = asText(line["model"]);
  return conversation === "" ? [] : [{ kind: "session_started", conversation, ...(model && { model }) }];
}

function message(role: "agent" | "person", line: JsonObject): AgentEvent[] {
  const parts = asList(asObject(line["message"])["content"]).map(asObject);
  const text = parts.map((part) => asText(part["text"])).join("");
  return text === "" ? [] : [{ kind: "message", role, text }];
}

/** `{ "readToolCall": { args, result } }`: the name of the one key says which tool it is. */
function toolOf(line: JsonObject): { tool: string; args: JsonObject; result: JsonObject } {
  const [[key, value] = ["", {}]] = Object.entries(asObject(line["tool_call"]));
  const call = asObject(value);
  if (key === "function") {
    return {
      tool: asText(call["name"]),
      args: { command: call["arguments"] },
      result: asObject(call["result"]),
    };
  }
  return {
    tool: key.replace(/ToolCall$/, ""),
    args: asObject(call["args"]),
    result: asObject(call["result"]),
  };
}

/** The argument that a person would look at first. */
const tellingArguments = ["command", "path", "pattern", "globPattern", "query", "url", "toolName"] as const;

function called(line: JsonObject): AgentEvent {
  const { tool, args } = toolOf(line);
  const summary = tellingArguments.map((name) => asText(args[name])).find((text) => text !== "") ?? "";
  return { kind: "tool_called", id: asText(line["call_id"]), tool, summary, ...toolDetails(args) };
}

const changes: Readonly<Record<string, "changed" | "deleted">> = {
  write: "changed",
  edit: "changed",
  delete: "deleted",
};

function answered(line: JsonObject): AgentEvent[] {
  const { tool, args, result } = toolOf(line);
  // Success has its own key in the result; every other key names what went wrong.
  const [outcome = "success"] = Object.keys(result);
  const isError = outcome !== "success";
  const answer: AgentEvent = {
    kind: "tool_answered",
    id: asText(line["call_id"]),
    isError,
    summary: isError ? outcome : "",
  };
  const path = asText(asObject(result["success"])["path"]) || asText(args["path"]);
  const change = Object.hasOwn(changes, tool) ? changes[tool] : undefined;
  return isError || change === undefined || path === ""
    ? [answer]
    : [answer, { kind: "file_changed", path, change }];
}
