/** OpenCode's `run --format json` and the lines of our plugin in it, as events. Unknown lines say nothing. */
import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { boundEvent } from "../events/bound-event.ts";
import type { FileChanged } from "../events/changed-files.ts";
import { type JsonObject, asCount, asList, asObject, asText, parseLine } from "../events/json-line.ts";
import { filesOfPatch } from "../events/openai-patch.ts";
import { toolDetails } from "../events/tool-details.ts";
import { summariseToolInput } from "../events/tool-summary.ts";
import { writtenFile } from "../events/written-file.ts";

export function readOpencodeOutput(): LineReader {
  let conversation = "";
  let lastSaid = "";
  let refused = "";
  return (line) => {
    const fields = parseLine(line);
    if (fields === undefined) return [];
    const part = asObject(fields["part"]);
    const events: AgentEvent[] = [];
    const id = asText(fields["sessionID"]);
    // Every line carries the id; no line tells that a session began.
    if (id !== "" && conversation === "")
      events.push({ kind: "session_started", conversation: (conversation = id) });
    if (fields["type"] === "text") lastSaid = asText(part["text"]);
    if (fields["type"] === "tool_use") refused = refusalOf(part) || refused;
    events.push(...outputEvents(fields, part, lastSaid, refused));
    return events.map(boundEvent);
  };
}

/** Without a terminal no person can approve: the call is refused, the run stops there, and the exit code is 0. */
function refusalOf(part: JsonObject): string {
  const error = asText(asObject(part["state"])["error"]);
  return error.startsWith("The user rejected permission") ? error : "";
}

function outputEvents(fields: JsonObject, part: JsonObject, lastSaid: string, refused: string): AgentEvent[] {
  switch (fields["type"]) {
    case "text":
      return [{ kind: "message", role: "agent", text: lastSaid }];
    case "reasoning":
      return [{ kind: "thinking", text: asText(part["text"]) }];
    case "tool_use":
      return toolEvents(part);
    case "step_finish": {
      const isLast = part["reason"] !== "tool-calls";
      return [
        ...usageEvents(asObject(part["tokens"]), ""),
        ...(isLast
          ? [{ kind: "turn_done", isError: part["reason"] !== "stop", text: lastSaid } as const]
          : []),
        ...(refused && !isLast ? [{ kind: "turn_done", isError: true, text: refused } as const] : []),
      ];
    }
    case "error": {
      const message = messageOf(fields["error"]);
      return [
        { kind: "error", message, isFatal: true },
        { kind: "turn_done", isError: true, text: message },
      ];
    }
    default:
      return [];
  }
}

/** In `run` a tool is told of once, when it is done; in the plugin also when it starts. */
function toolEvents(part: JsonObject, isCallKnown = false): AgentEvent[] {
  const state = asObject(part["state"]);
  const id = asText(part["callID"]);
  const tool = asText(part["tool"]);
  const files = filesOf(tool, state);
  const call: AgentEvent = {
    kind: "tool_called",
    id,
    tool,
    summary: files.map(({ path }) => path).join(", ") || summariseToolInput(state["input"]),
    ...toolDetails(state["input"]),
  };
  if (state["status"] === "running") return isCallKnown ? [] : [call];
  const isError = state["status"] === "error";
  const summary = isError ? asText(state["error"]) : asText(state["output"]);
  return [
    ...(isCallKnown ? [] : [call]),
    { kind: "tool_answered", id, isError, summary },
    ...(isError ? [] : files),
  ];
}

function filesOf(tool: string, state: JsonObject): FileChanged[] {
  const patch = asText(asObject(state["input"])["patchText"]);
  const isNew = asObject(state["metadata"])["exists"] === false;
  return [...filesOfPatch(patch, boxPaths.workspace), ...writtenFile(tool, state["input"], isNew)];
}

function usageEvents(tokens: JsonObject, model: string): AgentEvent[] {
  const cache = asObject(tokens["cache"]);
  const cached = asCount(cache["read"]);
  const cacheWrite = asCount(cache["write"]);
  const reasoning = asCount(tokens["reasoning"]);
  const input = asCount(tokens["input"]) + cached + cacheWrite;
  const output = asCount(tokens["output"]) + reasoning;
  if (input + output === 0) return [];
  const usage = { input, output, cached, cacheWrite, reasoning };
  return [{ kind: "usage", usage, ...(model !== "" && { model }) }];
}

function messageOf(value: unknown): string {
  const error = asObject(value);
  return asText(asObject(error["data"])["message"]) || asText(error["name"]);
}

/** The state from the lines before. */
interface Heard {
  conversation: string;
  lastSaid: string;
  /** A turn is under way; OpenCode says more than once that it is over. */
  isBusy: boolean;
  failure: string;
  readonly calls: Set<string>;
  readonly answers: Set<string>;
}

export function readOpencodeHooks(): LineReader {
  const heard: Heard = {
    conversation: "",
    lastSaid: "",
    isBusy: false,
    failure: "",
    calls: new Set(),
    answers: new Set(),
  };
  return (line) => {
    const fields = parseLine(line);
    const id = asText(fields?.["id"]);
    if (fields === undefined || id === "") return [];
    const started = startEvents(heard, fields, id);
    return [...started, ...hookEvents(heard, fields, id === heard.conversation)].map(boundEvent);
  };
}

/** A session that goes on announces itself by its first event; those of subagents have a parent. */
function startEvents(heard: Heard, fields: JsonObject, id: string): AgentEvent[] {
  const isNew = fields["type"] === "session.created" && asText(fields["parent"]) === "";
  if (id === heard.conversation || (heard.conversation !== "" && !isNew)) return [];
  heard.conversation = id;
  return [{ kind: "session_started", conversation: id }];
}

function hookEvents(heard: Heard, fields: JsonObject, isMain: boolean): AgentEvent[] {
  switch (fields["type"]) {
    case "session.status":
      if (isMain) heard.isBusy = true;
      return [];
    case "message.part.updated":
      return partEvents(heard, asObject(fields["part"]), isMain);
    case "message.updated": {
      const answer = asText(fields["message"]);
      if (heard.answers.has(answer)) return [];
      heard.answers.add(answer);
      return usageEvents(asObject(fields["tokens"]), asText(fields["model"]));
    }
    case "permission.asked": {
      const patterns = asList(fields["patterns"]).map(asText).join(", ");
      return [{ kind: "approval_asked", what: `${asText(fields["permission"])}: ${patterns}` }];
    }
    case "session.error": {
      const message = messageOf(fields["error"]);
      if (isMain) heard.failure = message;
      return [{ kind: "error", message, isFatal: false }];
    }
    case "session.idle": {
      if (!isMain || !heard.isBusy) return [];
      const { failure, lastSaid } = heard;
      Object.assign(heard, { isBusy: false, failure: "", lastSaid: "" });
      return [{ kind: "turn_done", isError: failure !== "", text: failure || lastSaid }];
    }
    default:
      return [];
  }
}

function partEvents(heard: Heard, part: JsonObject, isMain: boolean): AgentEvent[] {
  const text = asText(part["text"]);
  switch (part["type"]) {
    case "text":
      if (isMain) heard.lastSaid = text;
      return [{ kind: "message", role: "agent", text }];
    case "reasoning":
      return [{ kind: "thinking", text }];
    case "tool": {
      const call = asText(part["callID"]);
      const isKnown = heard.calls.has(call);
      heard.calls.add(call);
      return toolEvents(part, isKnown);
    }
    default:
      return [];
  }
}
