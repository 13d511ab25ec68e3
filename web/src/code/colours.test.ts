import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadHighlighter } from "./colours.ts";
import { type Language, grammars, languageOf } from "./languages.ts";

describe("the language of a file", () => {
  it.each([
    ["src/a.ts", "typescript"],
    ["Dockerfile", "dockerfile"],
    ["deep/Makefile", "makefile"],
    [".github/workflows/ci.yml", "yaml"],
    ["README", undefined],
    ["constructor", undefined],
    ["a.constructor", undefined],
  ])("%s", (path, language) => expect(languageOf(path)).toBe(language));
});

describe("colours", () => {
  it("are found over several lines, and the text stays what it was", async () => {
    const highlight = await loadHighlighter("javascript");
    const text = "const a = 1; /* one\ntwo */\n`x${2}<script>`";
    const lines = highlight(text);
    expect(lines.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(text);
    expect(lines[0]?.[0]).toEqual({ text: "const", colour: "keyword" });
    expect(lines[1]).toEqual([{ text: "two */", colour: "comment" }]);
    expect(lines[2]?.map(({ text: part, colour }) => `${part} ${colour}`)).toContain("<script>` string");
  });

  it("leave any text as it is, in every language", async () => {
    const highlighters = await Promise.all(
      (Object.keys(grammars) as Language[]).map((language) => loadHighlighter(language)),
    );
    const piece = fc.constantFrom(
      "<b>",
      "&amp;",
      '"',
      "'",
      "`",
      "${",
      "}",
      "/*",
      "*/",
      "//",
      "\n",
      " ",
      "a",
      "\u202e",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.nat({ max: highlighters.length - 1 }),
        (parts, at) => {
          const text = parts.join("");
          const lines = highlighters.at(at)?.(text) ?? [];
          expect(lines.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(text);
        },
      ),
      { numRuns: 400 },
    );
  });
});
