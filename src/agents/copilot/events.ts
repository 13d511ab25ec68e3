/** Copilot's JSON lines as events. Unknown lines say nothing; of pieces of a message only the whole one counts. */
import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boundEvent } from "../events/bound-event.ts";
import { fileChanged } from "../events/changed-files.ts";
import { type JsonObject, asCount, asList, asObject, asText, parseLine } from "../events/json-line.ts";
import { summariseInput } from "../events/openai-patch.ts";
import { toolDetails } from "../events/tool-details.ts";

export function readCopilotOutput(): LineReader {
  let lastSaid = "";
  let problem = "";
  return (line) => {
    const fields = parseLine(line);
    if (fields === undefined) return [];
    const data = asObject(fields["data"]);
    if (fields["type"] === "assistant.message") lastSaid = asText(data["content"]) || lastSaid;
    if (fields["type"] === "session.error") problem = asText(data["message"]);
    const events =
      fields["type"] === "result" ? resultEvents(fields, lastSaid, problem) : lineEvents(fields, data);
    return events.map(boundEvent);
  };
}

function lineEvents(fields: JsonObject, data: JsonObject): AgentEvent[] {
  const content = asText(data["content"]);
  switch (fields["type"]) {
    case "user.message":
      return content === "" ? [] : [{ kind: "message", role: "person", text: content }];
    case "assistant.message":
      return content === "" ? [] : [{ kind: "message", role: "agent", text: content }];
    case "assistant.reasoning":
      return content === "" ? [] : [{ kind: "thinking", text: content }];
    case "tool.execution_start":
      return [
        {
          kind: "tool_called",
          id: asText(data["toolCallId"]),
          tool: asText(data["toolName"]),
          summary: summariseInput(data["arguments"]),
          ...toolDetails(data["arguments"]),
        },
      ];
    case "tool.execution_complete":
      return toolAnswered(data);
    case "model.call_failure":
      return [{ kind: "error", message: failureOf(data), isFatal: false }];
    case "session.error":
      return [{ kind: "error", message: asText(data["message"]), isFatal: true }];
    default:
      return [];
  }
}

function toolAnswered(data: JsonObject): AgentEvent[] {
  const isError = data["success"] !== true;
  const summary = asText(asObject(data[isError ? "error" : "result"])[isError ? "message" : "content"]);
  const edits = asList(data["fileEdits"]).map(asObject);
  return [
    { kind: "tool_answered", id: asText(data["toolCallId"]), isError, summary: summary.trim() },
    ...edits.map(({ path, kind }) => fileChanged(asText(path), asText(kind))),
  ];
}

/** Only its last line names the conversation. */
function resultEvents(fields: JsonObject, lastSaid: string, problem: string): AgentEvent[] {
  const conversation = asText(fields["sessionId"]);
  const isError = fields["exitCode"] !== 0;
  return [
    ...(conversation === "" ? [] : [{ kind: "session_started", conversation } as const]),
    { kind: "turn_done", isError, text: isError ? problem : lastSaid },
  ];
}

const failureOf = (data: JsonObject): string =>
  `The model answered ${asCount(data["statusCode"]) || "nothing"}: ${asText(data["errorMessage"])}`;
