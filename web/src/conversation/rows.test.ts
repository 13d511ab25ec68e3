import { expect, it } from "vitest";
import type { ConversationEntry, ConversationPart } from "../../../src/contract/conversation.ts";
import { findRows, rowsOf } from "./rows.ts";

const entries = (...parts: readonly ConversationPart[]): readonly ConversationEntry[] =>
  parts.map((part, index) => ({ ...part, seq: index + 1, atMs: index, turn: 1 }));
const called = (id: string): ConversationPart => ({ kind: "tool_called", id, tool: "Edit", summary: "a.js" });
const answered = (id: string): ConversationPart => ({
  kind: "tool_answered",
  id,
  isError: false,
  summary: "ok",
});
const changed = (path: string): ConversationPart => ({ kind: "file_changed", path, change: "changed" });

it("makes one row of a tool, its answer and its files, also when tools overlap", () => {
  const rows = rowsOf(entries(called("1"), called("2"), answered("2"), changed("b.js"), answered("1")));
  expect(rows).toMatchObject([
    { kind: "tool", answer: { id: "1" }, files: [] },
    { kind: "tool", answer: { id: "2" }, files: [{ path: "b.js" }] },
  ]);
});

it("compares a checkpoint with the one before it", () => {
  const checkpoint = (number: number): ConversationPart => ({
    kind: "checkpoint",
    number,
    files: 1,
    added: 1,
    deleted: 0,
  });
  expect(rowsOf(entries(checkpoint(1), checkpoint(4)))).toMatchObject([{ from: undefined }, { from: 1 }]);
});

it("finds text in messages, inputs and outputs", () => {
  const rows = rowsOf(entries({ kind: "message", role: "agent", text: "Hello" }, called("1"), answered("1")));
  expect(findRows(rows, "hELLO")).toEqual([0]);
  expect(findRows(rows, "ok")).toEqual([1]);
  expect(findRows(rows, " ")).toEqual([]);
});
