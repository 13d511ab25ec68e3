import { expect, it } from "vitest";
import type { Change } from "../../../../src/contract/review/change.ts";
import { filesInOrder, treeLines } from "./file-tree.ts";

const change = (path: string): Change => ({
  path,
  kind: "modified",
  oldMode: "100644",
  newMode: "100644",
  oldId: "1",
  newId: "2",
  isBinary: false,
  added: 1,
  deleted: 0,
  bytes: 1,
});
const shown = (paths: string[], closed: string[] = []) =>
  treeLines(paths.map(change), new Set(closed)).map(
    ({ depth, name, type }) => `${"  ".repeat(depth)}${name}${type === "folder" ? "/" : ""}`,
  );

it("has folders with their files, and long ways as one line", () => {
  expect(shown(["README.md", "src/a/b/one.ts", "src/a/b/two.ts", "src/z.ts", "web/x/y.ts"])).toEqual([
    "README.md",
    "src/",
    "  z.ts",
    "  a/b/",
    "    one.ts",
    "    two.ts",
    "web/x/",
    "  y.ts",
  ]);
});

it("leaves out what is in closed folders, and keeps every file otherwise", () => {
  expect(shown(["src/a.ts", "web/b.ts"], ["src"])).toEqual(["src/", "web/", "  b.ts"]);
  const paths = Array.from({ length: 500 }, (_, i) => `d${i % 7}/e${i % 3}/f${i}`);
  expect(
    filesInOrder(treeLines(paths.map(change), new Set()))
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(paths.toSorted());
});

it("bears a way of thousands of folders", () => {
  const deep = `${"d/".repeat(2_000)}f`;
  expect(shown([deep, `${"d/".repeat(1_999)}g`])).toHaveLength(4);
});
