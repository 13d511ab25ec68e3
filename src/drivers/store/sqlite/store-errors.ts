/** Turns what SQLite says into the store's own codes, so that a person reads what to do and not a result code. */
import { AgentBoxError, messageOf } from "../../../base/errors.ts";

const UNKNOWN = 1;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** The primary result code; libsql reports a failed open in the text only. */
function resultCode(error: unknown): number {
  if (!(error instanceof Error)) return UNKNOWN;
  if ("rawCode" in error && typeof error.rawCode === "number") return error.rawCode & 0xff;
  const opened = /Unable to open connection.*: (\d+)/.exec(error.message);
  return opened ? Number(opened[1]) & 0xff : UNKNOWN;
}

export function storeError(error: unknown, path: string): AgentBoxError {
  if (error instanceof AgentBoxError) return error;
  const facts = { store: path };
  switch (resultCode(error)) {
    case BUSY:
    case LOCKED:
      return new AgentBoxError("store.locked", `The store ${path} is held by another process.`, {
        hint: "Stop the other process that has the file open, then try again.",
        facts,
        cause: error,
      });
    case FULL:
      return new AgentBoxError("store.disk_full", `The disk that holds ${path} is full.`, {
        hint: "Free some space; nothing that was stored before is lost.",
        facts,
        cause: error,
      });
    case CORRUPT:
    case NOT_A_DATABASE:
      return foreignFile(path, error);
    case CANNOT_OPEN:
      return new AgentBoxError("store.failed", `The store ${path} cannot be opened.`, {
        hint: "Check that its directory exists and belongs to you.",
        facts,
        cause: error,
      });
    default:
      return new AgentBoxError("store.failed", `The store ${path} failed: ${messageOf(error)}.`, {
        facts,
        cause: error,
      });
  }
}

export const foreignFile = (path: string, cause?: unknown): AgentBoxError =>
  new AgentBoxError("store.failed", `The file ${path} is damaged or is not a store of AgentBox.`, {
    hint: `Move ${path} away (keep it as a copy) and start again; boxes that still run are found and adopted.`,
    facts: { store: path },
    cause,
  });
