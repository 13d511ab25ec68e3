/**
 * The lines of hooks as Claude Code has made them: claude, codex and copilot write the same names, with small
 * differences in what they tell. Unknown lines say nothing.
 */
import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boundEvent } from "./bound-event.ts";
import { fileOfClaudeAnswer } from "./changed-files.ts";
import { type JsonObject, asObject, asText, parseLine } from "./json-line.ts";
import { filesOfPatch, patchOf, summariseInput } from "./openai-patch.ts";
import { toolCalls } from "./tool-calls.ts";
import { toolDetails } from "./tool-details.ts";

type Calls = ReturnType<typeof toolCalls>;

export function readHookEvents(): LineReader {
  const calls = toolCalls();
  return (line) => {
    const fields = parseLine(line);
    return fields === undefined ? [] : hookEvents(fields, calls).map(boundEvent);
  };
}

function hookEvents(fields: JsonObject, calls: Calls): AgentEvent[] {
  const tool = asText(fields["tool_name"]);
  const lastMessage = asText(fields["last_assistant_message"]);
  switch (fields["hook_event_name"]) {
    case "SessionStart":
      return sessionStarted(fields);
    case "UserPromptSubmit":
      return [{ kind: "message", role: "person", text: asText(fields["prompt"]) }];
    case "PreToolUse": {
      const id = asText(fields["tool_use_id"]) || calls.open(tool);
      const summary = summariseInput(fields["tool_input"]);
      return [{ kind: "tool_called", id, tool, summary, ...toolDetails(fields["tool_input"]) }];
    }
    case "PostToolUse":
    case "PostToolUseFailure":
      return toolAnswered(fields, calls);
    case "PermissionRequest":
      return [{ kind: "approval_asked", what: `${tool}: ${summariseInput(fields["tool_input"])}` }];
    case "Notification":
      return fields["notification_type"] === "permission_prompt"
        ? [{ kind: "approval_asked", what: asText(fields["message"]) }]
        : [];
    case "Stop":
      return turnDone(lastMessage);
    case "StopFailure":
      return [{ kind: "turn_done", isError: true, text: lastMessage || textOf(fields["error"]) }];
    case "Interrupt":
      return [{ kind: "turn_done", isError: true, text: "Interrupted." }];
    case "ErrorOccurred":
      return [{ kind: "error", message: textOf(fields["error"]), isFatal: false }];
    default:
      return [];
  }
}

function sessionStarted(fields: JsonObject): AgentEvent[] {
  const conversation = asText(fields["session_id"]);
  const model = asText(fields["model"]);
  return conversation === "" ? [] : [{ kind: "session_started", conversation, ...(model && { model }) }];
}

function toolAnswered(fields: JsonObject, calls: Calls): AgentEvent[] {
  const id = asText(fields["tool_use_id"]) || calls.close(asText(fields["tool_name"]));
  const response = fields["tool_response"] ?? fields["tool_result"];
  const answer = asObject(response);
  const isError =
    fields["hook_event_name"] === "PostToolUseFailure" ||
    !["", "success"].includes(asText(answer["result_type"]));
  const summary =
    textOf(fields["error"]) ||
    textOf(response) ||
    asText(answer["text_result_for_llm"]) ||
    [answer["stdout"], answer["stderr"]].map(asText).filter(Boolean).join("\n");
  const answered: AgentEvent = { kind: "tool_answered", id, isError, summary: summary.trim() };
  return [answered, ...(isError ? [] : changedFiles(fields, answer))];
}

const changedFiles = (fields: JsonObject, answer: JsonObject): AgentEvent[] => [
  ...filesOfPatch(patchOf(fields["tool_input"]), asText(fields["cwd"])),
  ...fileOfClaudeAnswer(answer),
];

const turnDone = (text: string): AgentEvent[] => [
  ...(text === "" ? [] : [{ kind: "message", role: "agent", text } as const]),
  { kind: "turn_done", isError: false, ...(text !== "" && { text }) },
];

const textOf = (value: unknown): string => asText(value) || asText(asObject(value)["message"]);
