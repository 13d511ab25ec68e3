import { describe, expect, it } from "vitest";
import { omitUndefined } from "../../../../src/base/omit-undefined.ts";
import type { Change } from "../../../../src/contract/review/change.ts";
import type { ReviewComment } from "../../../../src/contract/review/comment.ts";
import { parsePatch } from "./patch.ts";
import { type PatchState, type Row, notesOf, pairsOf, rowsOf } from "./rows.ts";

const change: Change = {
  path: "a.txt",
  kind: "modified",
  oldMode: "100644",
  newMode: "100644",
  oldId: "1",
  newId: "2".repeat(40),
  isBinary: false,
  added: 2,
  deleted: 1,
  bytes: 10,
};
const text =
  "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+3\n four\n";
const ready: PatchState = { state: "ready", ...parsePatch(text) };
const comment = (id: number, line?: number): ReviewComment => ({
  id,
  box: "b",
  incarnation: "i",
  path: "a.txt",
  ...omitUndefined({ line }),
  text: "t",
  quoted: "",
  atMs: 1,
  state: "draft",
  checkpoint: 1,
});
const base = {
  files: [change],
  patches: new Map([["a.txt", ready]]),
  isSplit: false,
  folded: new Set<string>(),
  comments: [],
  dangers: [],
};
const word = (row: Row): string =>
  row.type === "line"
    ? `${row.line.kind} ${row.line.text}`
    : row.type === "pair"
      ? `${row.left?.text ?? "-"} | ${row.right?.text ?? "-"}`
      : row.type === "comment"
        ? `comment ${row.comment.id}`
        : row.type;

describe("the rows of a diff", () => {
  it("are unified or side by side", () => {
    expect(rowsOf(base).map(word)).toEqual([
      "file",
      "hunk",
      "context one",
      "deleted two",
      "added 2",
      "added 3",
      "context four",
    ]);
    expect(rowsOf({ ...base, isSplit: true }).map(word)).toEqual([
      "file",
      "hunk",
      "one | one",
      "two | 2",
      "- | 3",
      "four | four",
    ]);
  });

  it("have comments below their lines, and those without a line in the diff at the top", () => {
    const comments = [comment(1, 3), comment(2), comment(3, 99)];
    expect(rowsOf({ ...base, comments, form: { path: "a.txt", line: 4 } }).map(word)).toEqual([
      "file",
      "comment 2",
      "comment 3",
      "hunk",
      "context one",
      "deleted two",
      "added 2",
      "added 3",
      "comment 1",
      "context four",
      "form",
    ]);
  });

  it("are one line for a file that is folded, and a place holder for one that is not here yet", () => {
    expect(rowsOf({ ...base, folded: new Set(["a.txt"]) }).map(word)).toEqual(["file"]);
    expect(rowsOf({ ...base, patches: new Map() })).toMatchObject([
      { type: "file" },
      { type: "wait", isLarge: false },
    ]);
    const large = { ...change, added: 50_000 };
    expect(rowsOf({ ...base, files: [large], patches: new Map() })[1]).toMatchObject({ isLarge: true });
  });

  it("have keys of their own", () => {
    const keys = rowsOf({ ...base, comments: [comment(1, 3), comment(2)], form: { path: "a.txt" } }).map(
      ({ key }) => key,
    );
    expect(new Set(keys).size).toBe(keys.length);
  });
});

it("a change says what its lines do not", () => {
  expect(notesOf({ ...change, newMode: "100755" })).toEqual(["Now executable."]);
  expect(notesOf({ ...change, kind: "renamed", oldPath: "b.txt" })).toEqual(["Renamed from b.txt."]);
  expect(notesOf({ ...change, newMode: "160000" })[0]).toContain("222222222222");
  expect(notesOf({ ...change, newMode: "120000", kind: "added" })[0]).toMatch(/symbolic link/);
  expect(pairsOf([])).toEqual([]);
});
