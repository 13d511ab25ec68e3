import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FilePatch, parsePatch, unquote } from "./patch.ts";

const shown = ({ hunks }: FilePatch): string[] =>
  hunks.flatMap(({ lines }) =>
    lines.map(({ kind, text, oldLine, newLine }) => `${kind} ${oldLine ?? "-"} ${newLine ?? "-"} ${text}`),
  );

describe("a patch of git", () => {
  it("of a merge has the marks of both sides taken off", () => {
    const { files } = parsePatch(
      [
        "diff --cc a.txt",
        "index 1,2..3",
        "--- a/a.txt",
        "+++ b/a.txt",
        "@@@ -1,2 -1,2 +1,3 @@@ here",
        "  same",
        "+ ours",
        " +theirs",
        "- gone",
        "",
      ].join("\n"),
    );
    expect(files[0]).toMatchObject({ newPath: "a.txt", isCombined: true });
    expect(files.flatMap(shown)).toEqual([
      "context 1 1 same",
      "added - 2 ours",
      "added - 3 theirs",
      "deleted 2 - gone",
    ]);
  });

  it("is cut where it is too long, and says so", () => {
    const lines = Array.from({ length: 100 }, (_, i) => `+${i}`);
    const text = `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,100 @@\n${lines.join("\n")}\n`;
    const { files, isCut } = parsePatch(text, 50);
    expect(isCut).toBe(true);
    expect(files[0]?.hunks[0]?.lines).toHaveLength(48);
    expect(parsePatch(text).isCut).toBe(false);
  });

  it("may be anything at all: it is read without a failure, within its bounds", () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "diff --git a/x b/x",
        'diff --git "a/\\303" "b/\\q"',
        "diff --cc x",
        "--- a/x",
        "+++ /dev/null",
        "@@ -1,2 +1,999999999 @@",
        "@@@ -1 -1 +1 @@@",
        "@@ -1 +1 @@ \u202e",
        "Binary files a and b differ",
        "\\ No newline at end of file",
        "rename from ",
        "+",
        "-",
        "",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (lines, max) => {
        const { files } = parsePatch(lines.join("\n"), max);
        const rows = files.reduce(
          (sum, { hunks }) => sum + 1 + hunks.reduce((all, hunk) => all + 1 + hunk.lines.length, 0),
          0,
        );
        expect(rows).toBeLessThanOrEqual(max);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a quoted name", () => {
  it.each([
    ["plain", "plain"],
    ['"a\\tb"', "a\tb"],
    ['"\\303\\244"', "ä"],
    ['"say \\"hi\\" \\\\"', 'say "hi" \\'],
    ['"\\777"', "777"],
    ['"', '"'],
    ['"half\\"', "half\\"],
  ])("%s", (quoted, name) => expect(unquote(quoted)).toBe(name));
});
