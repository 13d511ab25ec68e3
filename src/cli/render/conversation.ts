import { printable, printableLines } from "../../base/printable.ts";
import { formatDuration } from "../../base/duration.ts";
import type { ConversationEntry } from "../../contract/conversation.ts";
import { renderAgentEvent } from "./agent-event.ts";
import type { Style } from "./style.ts";

/** One entry as a person reads it; undefined for what only programs want. */
export function renderEntry(entry: ConversationEntry, box: string, style: Style): string | undefined {
  if (entry.kind === "asked") return asked(entry.text, entry.from ?? "task", entry, style);
  if (entry.kind === "message" && entry.role === "person")
    return asked(entry.text, "in the terminal", entry, style);
  if (entry.kind === "turn_ended") return style.dim(`  ${endWords(entry)}`);
  if (entry.kind === "interrupted") return style.yellow("  interrupted");
  if (entry.kind === "skipped")
    return style.yellow(`  ${entry.count} more entries in one minute are not kept`);
  if (entry.kind === "turn_done")
    return entry.text === undefined ? undefined : printableLines(entry.text.trim());
  if (entry.kind !== "checkpoint") return renderAgentEvent(entry, style);
  const { number, files, added, deleted } = entry;
  const change = `${plural(files, "file")} +${added} -${deleted}`;
  return style.dim(`  checkpoint ${number}: ${change} (agentbox diff ${box} --to ${number})`);
}

function asked(text: string, from: string, { turn, atMs }: ConversationEntry, style: Style): string {
  const at = new Date(atMs).toISOString().slice(0, 16).replace("T", " ");
  const head = style.dim(`${turn === 1 ? "" : "\n"}${turn}. ${printable(from)}, ${at}`);
  const lines = printableLines(text.trim()).split("\n");
  return [head, ...lines.map((line) => style.bold(`> ${line}`))].join("\n");
}

function endWords(entry: Extract<ConversationEntry, { kind: "turn_ended" }>): string {
  const { verdict, why, tokens, costMicroUsd, durationMs } = entry;
  const spent = [
    tokens === 0 ? undefined : `${tokens.toLocaleString("en")} tokens`,
    costMicroUsd === 0 ? undefined : `$${(costMicroUsd / 1e6).toFixed(costMicroUsd < 10_000 ? 4 : 2)}`,
    formatDuration(Math.max(1_000, Math.round(durationMs / 1_000) * 1_000)),
  ];
  const head = verdict === undefined ? "turn done" : verdict.replaceAll("_", " ");
  return (
    [head, ...spent.filter(Boolean)].join(", ") +
    (why === undefined || verdict === "done" ? "" : `: ${printable(why)}`)
  );
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
