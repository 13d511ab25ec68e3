import { describe, expect, it } from "vitest";
import type { ReviewComment } from "../../contract/review/comment.ts";
import { withSuggestion } from "./apply-suggestion.ts";

const before = "one\ntwo\nthree\nfour\nfive\nsix\n";
const comment = (more: Partial<ReviewComment>): ReviewComment => ({
  id: 1,
  box: "shop",
  incarnation: "i",
  path: "a.txt",
  text: "",
  quoted: "two\nthree\nfour\nfive",
  line: 5,
  suggestion: "FIVE",
  atMs: 0,
  state: "draft",
  checkpoint: 1,
  ...more,
});

describe("withSuggestion", () => {
  it.each([
    ["one line", {}, "one\ntwo\nthree\nfour\nFIVE\nsix\n"],
    [
      "several by fewer",
      { line: 4, endLine: 5, quoted: "one\ntwo\nthree\nfour\nfive" },
      "one\ntwo\nthree\nFIVE\nsix\n",
    ],
    ["one by several", { suggestion: "5a\n5b" }, "one\ntwo\nthree\nfour\n5a\n5b\nsix\n"],
    ["deletes", { suggestion: "" }, "one\ntwo\nthree\nfour\nsix\n"],
    ["the first line", { line: 1, quoted: "one", suggestion: "ONE" }, "ONE\ntwo\nthree\nfour\nfive\nsix\n"],
  ])("replaces %s", (_, more, after) => {
    expect(withSuggestion(before, comment(more))).toBe(after);
  });

  it("finds the lines where they have moved to", () => {
    expect(withSuggestion(`new\n${before}`, comment({}))).toBe("new\none\ntwo\nthree\nfour\nFIVE\nsix\n");
  });

  it("keeps the line ends of the file", () => {
    const dos = before.replaceAll("\n", "\r\n");
    const quoted = "two\r\nthree\r\nfour\r\nfive\r";
    expect(withSuggestion(dos, comment({ quoted, suggestion: "5a\n5b" }))).toContain(
      "four\r\n5a\r\n5b\r\nsix",
    );
  });

  it.each([
    ["the lines have changed", before.replace("five", "5"), {}],
    ["the lines above them have changed", before.replace("four", "4"), {}],
    ["they have moved and are there twice", `new\n${before}${before}`, {}],
    ["they are gone", "", {}],
    ["not all of them were kept", "x".repeat(5_000), { line: 1, quoted: "x".repeat(4_096) }],
  ])("refuses when %s", (_, now, more) => {
    expect(() => withSuggestion(now, comment(more))).toThrow(
      expect.objectContaining({ code: "comment.outdated" }),
    );
  });
});
