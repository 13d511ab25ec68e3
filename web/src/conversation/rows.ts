/** From the entries of a conversation to the rows that a person reads: a tool with its answer and its files is one row. */
import type { ConversationEntry } from "../../../src/contract/conversation.ts";

type EntryOf<K extends ConversationEntry["kind"]> = Extract<ConversationEntry, { kind: K }>;

export interface ToolRow {
  readonly kind: "tool";
  readonly key: number;
  readonly turn: number;
  readonly call: EntryOf<"tool_called">;
  readonly answer: EntryOf<"tool_answered"> | undefined;
  readonly files: readonly EntryOf<"file_changed">[];
}

export type Row =
  | ToolRow
  | {
      readonly kind: "asked";
      readonly key: number;
      readonly turn: number;
      readonly entry: EntryOf<"asked" | "message">;
    }
  | { readonly kind: "said"; readonly key: number; readonly turn: number; readonly text: string }
  | { readonly kind: "thinking"; readonly key: number; readonly turn: number; readonly text: string }
  | {
      readonly kind: "files";
      readonly key: number;
      readonly turn: number;
      readonly files: readonly EntryOf<"file_changed">[];
    }
  | {
      readonly kind: "checkpoint";
      readonly key: number;
      readonly turn: number;
      readonly entry: EntryOf<"checkpoint">;
      /** The checkpoint before, from which this turn's change is counted. */
      readonly from: number | undefined;
    }
  | {
      readonly kind: "ended";
      readonly key: number;
      readonly turn: number;
      readonly entry: EntryOf<"turn_ended">;
    }
  | {
      readonly kind: "notice";
      readonly key: number;
      readonly turn: number;
      readonly tone: "warn" | "bad";
      readonly text: string;
    };

export function rowsOf(entries: readonly ConversationEntry[]): readonly Row[] {
  const rows: Row[] = [];
  /** Where the row of a tool is that has been called and has not answered. */
  const open = new Map<string, number>();
  let lastTool = -1;
  let checkpoint: number | undefined;
  for (const entry of entries) {
    const { seq: key, turn } = entry;
    if (entry.kind === "tool_called") {
      open.set(entry.id, rows.length);
      rows.push({ kind: "tool", key, turn, call: entry, answer: undefined, files: [] });
    } else if (entry.kind === "tool_answered") {
      const at = open.get(entry.id);
      const tool = at === undefined ? undefined : rows[at];
      if (tool?.kind !== "tool") continue;
      open.delete(entry.id);
      lastTool = at!;
      rows[at!] = { ...tool, answer: entry };
    } else if (entry.kind === "file_changed") {
      const tool = lastTool === rows.length - 1 ? rows[lastTool] : undefined;
      const last = rows.at(-1);
      if (tool?.kind === "tool") rows[lastTool] = { ...tool, files: [...tool.files, entry] };
      else if (last?.kind === "files") rows[rows.length - 1] = { ...last, files: [...last.files, entry] };
      else rows.push({ kind: "files", key, turn, files: [entry] });
    } else if (entry.kind === "checkpoint") {
      rows.push({ kind: "checkpoint", key, turn, entry, from: checkpoint });
      checkpoint = entry.number;
    } else {
      const row = simpleRow(entry);
      if (row !== undefined) rows.push(row);
    }
  }
  return rows;
}

function simpleRow(entry: ConversationEntry): Row | undefined {
  const { seq: key, turn } = entry;
  const notice = (text: string, tone: "warn" | "bad"): Row => ({ kind: "notice", key, turn, tone, text });
  if (entry.kind === "asked" || (entry.kind === "message" && entry.role === "person"))
    return { kind: "asked", key, turn, entry };
  if (entry.kind === "message") return { kind: "said", key, turn, text: entry.text };
  if (entry.kind === "thinking") return { kind: "thinking", key, turn, text: entry.text };
  if (entry.kind === "turn_ended") return { kind: "ended", key, turn, entry };
  if (entry.kind === "approval_asked") return notice(`Asks: ${entry.what}`, "warn");
  if (entry.kind === "error") return notice(entry.message, "bad");
  if (entry.kind === "interrupted") return notice("Interrupted.", "warn");
  if (entry.kind === "skipped")
    return notice(`${entry.count} more entries in one minute are not kept.`, "warn");
  if (entry.kind === "turn_done" && entry.text !== undefined && entry.text !== "")
    return entry.isError ? notice(entry.text, "bad") : { kind: "said", key, turn, text: entry.text };
  return undefined;
}

/** All that a search looks at. */
function rowText(row: Row): string {
  switch (row.kind) {
    case "tool": {
      const { call, answer, files } = row;
      return [
        call.tool,
        call.summary,
        call.input,
        call.diff,
        answer?.summary,
        ...files.map(({ path }) => path),
      ]
        .filter(Boolean)
        .join("\n");
    }
    case "asked":
      return row.entry.text;
    case "files":
      return row.files.map(({ path }) => path).join("\n");
    case "said":
    case "thinking":
    case "notice":
      return row.text;
    case "checkpoint":
      return `checkpoint ${row.entry.number}`;
    case "ended":
      return row.entry.why ?? "";
    default:
      return "";
  }
}

/** The rows that have a text, as their places in the list. */
export function findRows(rows: readonly Row[], wanted: string): readonly number[] {
  const text = wanted.trim().toLowerCase();
  if (text === "") return [];
  return rows.flatMap((row, index) => (rowText(row).toLowerCase().includes(text) ? [index] : []));
}
