/** An event of a box as one line of text. Pure. */
import { formatBytes } from "../../../src/base/bytes.ts";
import { reasonText, targetText } from "../../../src/contract/network/egress-words.ts";
import type { BoxEvent } from "../../../src/contract/events.ts";
import type { Tone } from "../parts/badge.tsx";

export const eventKinds = [
  "agent",
  "commands",
  "files",
  "hosts",
  "denials",
  "approvals",
  "tokens",
  "review",
  "box",
] as const;
export type EventKind = (typeof eventKinds)[number];

export interface EventLine {
  readonly kind: EventKind;
  readonly tone: Tone;
  /** A few words of ours. */
  readonly title: string;
  /** Often the box's own words. */
  readonly text: string;
}

type Data = BoxEvent["data"];
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const count = (value: unknown): string => (number(value) ?? 0).toLocaleString("en-US");
const short = (value: unknown, length = 400): string => {
  const all = text(value).trim();
  return all.length > length ? `${all.slice(0, length)} …` : all;
};

const line = (kind: EventKind, title: string, detail = "", tone: Tone = "plain"): EventLine => ({
  kind,
  tone,
  title,
  text: detail,
});

/** Undefined for what only programs want. */
export function lineOf({ type, data }: Pick<BoxEvent, "type" | "data">): EventLine | undefined {
  if (type === "agent.event") return agentLine(data);
  const say = Object.hasOwn(words, type) ? words[type] : undefined;
  if (say) return say(data);
  const [noun = "", verb = ""] = type.split(".");
  const kind: EventKind = ["checkpoint", "review", "check", "work"].includes(noun) ? "review" : "box";
  return line(kind, `${noun} ${verb.replaceAll("_", " ")}`, factsText(data));
}

function agentLine(data: Data): EventLine | undefined {
  switch (data["kind"]) {
    case "message":
      return data["role"] === "person"
        ? line("agent", "You", short(data["text"], 2_000), "info")
        : line("agent", "The agent says", short(data["text"], 2_000));
    case "thinking":
      return line("agent", "The agent thinks", short(data["text"], 300));
    case "tool_called":
      return line("commands", text(data["tool"]) || "tool", short(data["summary"]), "accent");
    case "tool_answered":
      if (data["isError"] === true) return line("commands", "failed", short(data["summary"], 200), "bad");
      return text(data["summary"]).trim() === ""
        ? undefined
        : line("commands", "Output", short(data["summary"], 200));
    case "file_changed":
      return line("files", text(data["change"]) || "changed", text(data["path"]), "good");
    case "approval_asked":
      return line("approvals", "The agent asks", short(data["what"]), "warn");
    case "usage":
      return usageLine(data);
    case "error":
      return line("agent", "Error", short(data["message"]), "bad");
    case "turn_done":
      return data["isError"] === true
        ? line("agent", "The agent failed", short(data["text"]), "bad")
        : line("agent", "The agent is done", short(data["text"]), "good");
    case "session_started":
      return line("agent", "Conversation started", text(data["model"]));
    default:
      return undefined;
  }
}

function usageLine(data: Data): EventLine {
  const usage = (data["usage"] ?? {}) as Data;
  return line(
    "tokens",
    `${count(usage["input"])} tokens in, ${count(usage["output"])} out`,
    text(data["model"]),
  );
}

const target = (data: Data): string =>
  targetText({
    host: text(data["host"]),
    port: number(data["port"]) ?? 0,
    ...(text(data["method"]) === "" ? {} : { method: text(data["method"]) }),
    ...(text(data["path"]) === "" ? {} : { path: text(data["path"]) }),
  });

const times = (data: Data): string =>
  (number(data["count"]) ?? 1) > 1 ? ` (${count(data["count"])} times)` : "";
const by = (data: Data): string => (text(data["program"]) === "" ? "" : `, by ${text(data["program"])}`);

const outcomes: Readonly<Record<string, readonly [string, Tone]>> = {
  allow: ["Allowed", "good"],
  deny: ["Denied", "bad"],
  timed_out: ["Denied: no answer", "bad"],
  withdrawn: ["Withdrawn", "plain"],
};

const scopes: Readonly<Record<string, string>> = {
  once: ", this once",
  box: ", for this box",
  project: ", for every box of the project",
};

const words: Readonly<Partial<Record<BoxEvent["type"], (data: Data) => EventLine>>> = {
  "exec.started": ({ argv }) =>
    line("commands", "Command", Array.isArray(argv) ? argv.map(text).join(" ") : "", "accent"),
  "exec.ended": ({ code, signal, timedOut }) =>
    line(
      "commands",
      timedOut === true ? "Command timed out" : "Command ended",
      text(signal) || `exit code ${number(code) ?? "unknown"}`,
      code === 0 ? "plain" : "bad",
    ),
  "files.copied": ({ op, path, entries, bytes }) =>
    line(
      "files",
      op === "write" ? "Copied in" : "Copied out",
      `${text(path)}${number(entries) === undefined ? "" : `, ${count(entries)} files, ${formatBytes(number(bytes) ?? 0)}`}`,
    ),
  "files.refused": ({ op, path }) =>
    line("denials", "Refused", `to ${text(op)} ${text(path)}, which is not in the workspace`, "bad"),
  "preview.opened": ({ port, by: who }) =>
    line("hosts", "Preview opened", `of port ${number(port) ?? "?"} by ${text(who)}`, "info"),
  "preview.agreed": ({ port, by: who }) =>
    line(
      "hosts",
      "Preview agreed to",
      `of a box with secrets, at port ${number(port) ?? "?"}, by ${text(who)}`,
      "info",
    ),
  "preview.refused": ({ port, reason }) =>
    line(
      "denials",
      "Preview refused",
      reason === "secrets"
        ? `of port ${number(port) ?? "?"}: the box has secrets, and its owner has not agreed`
        : `of port ${number(port) ?? "?"}: it was not opened in that browser`,
      "bad",
    ),
  "egress.allowed": (data) => line("hosts", "Reached", `${target(data)}${by(data)}`, "good"),
  "egress.denied": (data) =>
    line(
      "denials",
      "Denied",
      `${target(data)}: ${reasonText(text(data["reason"]))}${by(data)}${times(data)}`,
      "bad",
    ),
  "secret.used": (data) =>
    line("hosts", "Secret used", `${text(data["secret"])} at ${target(data)}${times(data)}`, "info"),
  "secret.refused": (data) =>
    line(
      "denials",
      "Secret refused",
      `${text(data["secret"])} at ${target(data)}: ${reasonText(text(data["reason"]))}${times(data)}`,
      "bad",
    ),
  "policy.changed": ({ rule, rules }) =>
    line("hosts", "Network policy changed", text(rule) || `${Array.isArray(rules) ? rules.length : 0} rules`),
  "approval.asked": (data) =>
    line(
      "approvals",
      text(data["secret"]) === "" ? "Asks to reach" : `Asks to use ${text(data["secret"])} at`,
      `${target(data)}${by(data)}`,
      "warn",
    ),
  "approval.answered": (data) => {
    const [title, tone] = outcomes[text(data["outcome"])] ?? ["Answered", "plain"];
    const scope = data["outcome"] === "allow" ? (scopes[text(data["scope"])] ?? "") : "";
    return line("approvals", title, `${target(data)}${scope}`, tone);
  },
  "model.refused": ({ message }) => line("tokens", "Model request refused", short(message), "bad"),
  "budget.warned": (data) => line("tokens", "Budget nearly used up", budgetText(data), "warn"),
  "budget.exhausted": (data) => line("tokens", "Budget used up", budgetText(data), "bad"),
  "budget.raised": ({ tokens, microUsd }) =>
    line(
      "tokens",
      "Budget raised",
      [
        ...(number(tokens) === undefined ? [] : [`${count(tokens)} tokens`]),
        ...(number(microUsd) === undefined ? [] : [`$${(number(microUsd)! / 1_000_000).toFixed(2)}`]),
      ].join(" and "),
    ),
  "agent.state_changed": ({ to }) =>
    line(
      "agent",
      to === "waiting" ? "Waits for you" : `Is ${text(to)}`,
      "",
      to === "waiting" ? "warn" : "plain",
    ),
  "agent.ended": ({ verdict, why }) =>
    line(
      "agent",
      `Ended: ${text(verdict).replaceAll("_", " ")}`,
      text(why),
      verdict === "done" ? "good" : "bad",
    ),
  "agent.messaged": ({ text: message }) => line("agent", "Message sent", short(message), "info"),
  "agent.interrupted": () => line("agent", "Interrupted", "", "warn"),
  "agent.resumed": () => line("agent", "The conversation goes on"),
  "checkpoint.taken": ({ number: at, name, files }) =>
    line("review", `Checkpoint ${number(at) ?? ""}`, [text(name), changed(files)].filter(Boolean).join(", ")),
  "box.created": () => line("box", "Box created"),
  "box.started": () => line("box", "Started", "", "good"),
  "box.failed": ({ message }) => line("box", "Failed", short(message), "bad"),
  "box.stopped": ({ reason, exitCode }) => line("box", "Stopped", stopText(reason, exitCode)),
  "box.died": ({ reason, exitCode }) => line("box", "Crashed", stopText(reason, exitCode), "bad"),
  "box.moved": ({ from, to }) => line("box", "Moved", `from ${text(from)} to ${text(to)}`),
  "box.prepared": () => line("box", "Prepared"),
  "box.starting": () => line("box", "Starting"),
  "box.stopping": ({ reason }) => line("box", "Stopping", stopText(reason, undefined)),
  "box.paused": () => line("box", "Paused"),
  "box.resumed": () => line("box", "Resumed"),
  "box.adopted": () => line("box", "Reconnected", "after the daemon started"),
  "boot.started": ({ runtime }) => line("box", "Booting", text(runtime)),
  "boot.sealed": () => line("box", "Ready", "Everything its manifest promises is there.", "good"),
  "link.connected": () => line("box", "Supervisor connected"),
  "link.lost": () => line("box", "Supervisor lost", "", "warn"),
  "session.started": ({ session }) => line("box", "Session started", text(session)),
  "session.ended": ({ session, exitCode }) =>
    line("box", "Session ended", `${text(session)}${stopText("", exitCode)}`),
  "service.changed": ({ service, state, message }) =>
    line(
      "box",
      `Service ${text(service)}`,
      [text(state), text(message)].filter(Boolean).join(": "),
      state === "failed" ? "bad" : "plain",
    ),
  "session.attached": ({ session, readOnly }) =>
    line("box", "A person joined", `${text(session)}${readOnly === true ? ", only looking" : ""}`),
  "session.detached": ({ session }) => line("box", "A person left", text(session)),
};

const changed = (files: unknown): string =>
  number(files) === undefined ? "" : `${count(files)} ${files === 1 ? "file" : "files"} changed`;

const stopText = (reason: unknown, exitCode: unknown): string =>
  `${text(reason).replaceAll("_", " ")}${number(exitCode) === undefined ? "" : `, exit code ${number(exitCode)}`}`;

function budgetText({ scope, unit, used, limit }: Data): string {
  const amount = (value: unknown) =>
    unit === "microUsd" ? `$${((number(value) ?? 0) / 1_000_000).toFixed(2)}` : count(value);
  return `${amount(used)} of ${amount(limit)}${unit === "tokens" ? " tokens" : ""} for each ${text(scope)}`;
}

const factsText = (data: Data): string =>
  Object.entries(data)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value) && value !== "")
    .map(([key, value]) => `${key}: ${String(value)}`)
    .join(", ")
    .slice(0, 400);

export interface TimelineRow {
  /** The first event of the row, the newest. */
  readonly event: BoxEvent;
  readonly line: EventLine;
  /** How often in a row. */
  readonly count: number;
}

/** The lines of events in their order, with neighbours that say the same as one. */
export function rowsOf(events: readonly BoxEvent[], kinds: ReadonlySet<EventKind>): TimelineRow[] {
  const rows: TimelineRow[] = [];
  for (const event of events) {
    const shown = lineOf(event);
    if (!shown || (kinds.size > 0 && !kinds.has(shown.kind))) continue;
    const last = rows.at(-1);
    const isSame =
      last?.line.kind === shown.kind && last.line.title === shown.title && last.line.text === shown.text;
    if (last && isSame) rows[rows.length - 1] = { ...last, count: last.count + 1 };
    else rows.push({ event, line: shown, count: 1 });
  }
  return rows;
}

/** Two lists of events, newest first, as one without doubles. */
export function mergeEvents(a: readonly BoxEvent[], b: readonly BoxEvent[]): BoxEvent[] {
  const byId = new Map([...a, ...b].map((event) => [event.id, event]));
  return [...byId.values()].sort((one, other) => other.id - one.id);
}
