import type { LineReader } from "../../contract/agent.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { boundEvent } from "../events/bound-event.ts";
import { type JsonObject, parseLine } from "../events/json-line.ts";
import type { EventsFile } from "./schema.ts";

type Kind = keyof EventsFile;
/** The rule of one kind, without the choice between one and several. */
type Rule<K extends Kind> = Extract<NonNullable<EventsFile[K]>, { match: unknown }>;

/** Says nothing where the line lacks what the event is about. */
const makers: { readonly [K in Kind]: (line: JsonObject, rule: Rule<K>) => AgentEvent | undefined } = {
  session_started(line, rule) {
    const conversation = textAt(line, rule.conversation);
    const model = rule.model === undefined ? undefined : textAt(line, rule.model);
    if (conversation === "") return undefined;
    return { kind: "session_started", conversation, ...(model && { model }) };
  },
  message: (line, rule) =>
    ifText(textAt(line, rule.text), (text) => ({ kind: "message", role: "agent", text })),
  thinking: (line, rule) => ifText(textAt(line, rule.text), (text) => ({ kind: "thinking", text })),
  tool_called: (line, rule) => ({
    kind: "tool_called",
    id: textAt(line, rule.id),
    tool: textAt(line, rule.tool),
    summary: rule.summary === undefined ? "" : textAt(line, rule.summary),
  }),
  tool_answered: (line, rule) => ({
    kind: "tool_answered",
    id: textAt(line, rule.id),
    isError: rule.is_error !== undefined && isTrue(valueAt(line, rule.is_error)),
    summary: rule.summary === undefined ? "" : textAt(line, rule.summary),
  }),
  file_changed: (line, { path, change }) =>
    ifText(textAt(line, path), (text) => ({ kind: "file_changed", path: text, change })),
  approval_asked: (line, rule) =>
    ifText(textAt(line, rule.what), (what) => ({ kind: "approval_asked", what })),
  error: (line, rule) => ({
    kind: "error",
    message: textAt(line, rule.message),
    isFatal: rule.is_fatal !== undefined && isTrue(valueAt(line, rule.is_fatal)),
  }),
  turn_done(line, rule) {
    const text = rule.text === undefined ? "" : textAt(line, rule.text);
    const isError = rule.is_error !== undefined && isTrue(valueAt(line, rule.is_error));
    return { kind: "turn_done", isError, ...(text && { text }) };
  },
};

/** A reader for [events] of an agent file: each rule whose fields match a line makes one event of it. */
export function readUserAgentOutput(events: EventsFile): () => LineReader {
  const readers = [
    ...readersOf(makers.session_started, events.session_started),
    ...readersOf(makers.message, events.message),
    ...readersOf(makers.thinking, events.thinking),
    ...readersOf(makers.tool_called, events.tool_called),
    ...readersOf(makers.tool_answered, events.tool_answered),
    ...readersOf(makers.file_changed, events.file_changed),
    ...readersOf(makers.approval_asked, events.approval_asked),
    ...readersOf(makers.error, events.error),
    ...readersOf(makers.turn_done, events.turn_done),
  ];
  return () => (text) => {
    const line = parseLine(text);
    return line ? readers.flatMap((read) => read(line) ?? []).map(boundEvent) : [];
  };
}

type Reader = (line: JsonObject) => AgentEvent | undefined;

function readersOf<R extends { readonly match: Readonly<Record<string, unknown>> }>(
  make: (line: JsonObject, rule: R) => AgentEvent | undefined,
  rules: R | readonly R[] = [],
): Reader[] {
  const list: readonly R[] = "match" in rules ? [rules] : rules;
  return list.map(
    (rule) => (line) =>
      Object.entries(rule.match).every(([field, value]) => valueAt(line, field) === value)
        ? make(line, rule)
        : undefined,
  );
}

const ifText = <T>(text: string, make: (text: string) => T): T | undefined =>
  text === "" ? undefined : make(text);

/** `message.content.0.text`; SECURITY: own fields only, because the box chooses what the line holds. */
function valueAt(line: JsonObject, field: string): unknown {
  let value: unknown = line;
  for (const part of field.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as JsonObject)[part];
  }
  return value;
}

function textAt(line: JsonObject, field: string): string {
  const value = valueAt(line, field);
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const isTrue = (value: unknown): boolean => Boolean(value) && value !== "false";
