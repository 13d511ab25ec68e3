/** The output of `codex exec --json` as events. Unknown lines say nothing. */
import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boundEvent } from "../events/bound-event.ts";
import { fileChanged } from "../events/changed-files.ts";
import { type JsonObject, asList, asObject, asText, parseLine } from "../events/json-line.ts";
import { toolDetails } from "../events/tool-details.ts";
import { summariseToolInput } from "../events/tool-summary.ts";

export function readCodexOutput(): LineReader {
  const open = new Set<string>();
  let lastSaid = "";
  return (line) => {
    const fields = parseLine(line);
    if (fields === undefined) return [];
    const item = asObject(fields["item"]);
    if (item["type"] === "agent_message") lastSaid = asText(item["text"]);
    const events = asText(fields["type"]).startsWith("item.")
      ? itemEvents(fields["type"] === "item.completed", item, open)
      : turnEvents(fields, lastSaid);
    return events.map(boundEvent);
  };
}

/** No usage: what it tells is the sum of the whole conversation, also of the part before a resume. */
function turnEvents(fields: JsonObject, lastSaid: string): AgentEvent[] {
  const conversation = asText(fields["thread_id"]);
  switch (fields["type"]) {
    case "thread.started":
      return conversation === "" ? [] : [{ kind: "session_started", conversation }];
    case "turn.completed":
      return [{ kind: "turn_done", isError: false, text: lastSaid }];
    case "turn.failed":
      return [{ kind: "turn_done", isError: true, text: asText(asObject(fields["error"])["message"]) }];
    case "error":
      return [{ kind: "error", message: asText(fields["message"]), isFatal: false }];
    default:
      return [];
  }
}

function itemEvents(isCompleted: boolean, item: JsonObject, open: Set<string>): AgentEvent[] {
  const text = asText(item["text"]);
  switch (item["type"]) {
    case "agent_message":
      return isCompleted ? [{ kind: "message", role: "agent", text }] : [];
    case "reasoning":
      return isCompleted ? [{ kind: "thinking", text }] : [];
    case "error": {
      const message = asText(item["message"]);
      // It says this about the hooks we gave it ourselves.
      const isOurs = message.includes("--dangerously-bypass-hook-trust");
      return isCompleted && !isOurs ? [{ kind: "error", message, isFatal: false }] : [];
    }
    case "command_execution":
    case "file_change":
    case "mcp_tool_call":
    case "web_search":
      return toolEvents(isCompleted, item, open);
    default:
      return [];
  }
}

/** Some tools are told only when they are done. */
function toolEvents(isCompleted: boolean, item: JsonObject, open: Set<string>): AgentEvent[] {
  const id = asText(item["id"]);
  const called: AgentEvent[] = open.has(id)
    ? []
    : [
        {
          kind: "tool_called",
          id,
          tool: toolOf(item),
          summary: summaryOf(item),
          ...toolDetails(item["arguments"]),
        },
      ];
  open.add(id);
  if (!isCompleted) return called;
  open.delete(id);
  const isError = !["", "completed"].includes(asText(item["status"]));
  return [
    ...called,
    { kind: "tool_answered", id, isError, summary: answerOf(item) },
    ...(isError ? [] : changesOf(item).map(({ path, kind }) => fileChanged(path, kind))),
  ];
}

const changesOf = (item: JsonObject) =>
  asList(item["changes"]).map((change) => {
    const { path, kind } = asObject(change);
    return { path: asText(path), kind: asText(kind) };
  });

function toolOf(item: JsonObject): string {
  if (item["type"] === "command_execution") return "shell";
  if (item["type"] === "file_change") return "apply_patch";
  if (item["type"] === "mcp_tool_call") return `${asText(item["server"])}.${asText(item["tool"])}`;
  return asText(item["type"]);
}

function summaryOf(item: JsonObject): string {
  if (item["type"] === "file_change")
    return changesOf(item)
      .map(({ path }) => path)
      .join(", ");
  return summariseToolInput(item["type"] === "mcp_tool_call" ? item["arguments"] : item);
}

function answerOf(item: JsonObject): string {
  const error = asText(asObject(item["error"])["message"]);
  const parts = asList(asObject(item["result"])["content"]).map((part) => asText(asObject(part)["text"]));
  return (error || asText(item["aggregated_output"]) || parts.filter(Boolean).join("\n")).trim();
}
