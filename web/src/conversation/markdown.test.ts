import fc from "fast-check";
import { expect, it } from "vitest";
import { parseInline, parseMarkdown } from "./markdown.ts";

it("knows headings, lists, code, quotes and paragraphs", () => {
  const text =
    "# Title\nA line\nand more\n\n```ts\nconst a = `x`;\n# no title\n```\n1. one\n2. two\n  - deep\n> said";
  expect(parseMarkdown(text).map(({ kind }) => kind)).toEqual([
    "heading",
    "paragraph",
    "code",
    "list",
    "quote",
  ]);
  expect(parseMarkdown(text)[2]).toEqual({
    kind: "code",
    language: "ts",
    text: "const a = `x`;\n# no title",
  });
  expect(parseMarkdown(text)[3]).toMatchObject({ isOrdered: true, start: 1, items: [{}, {}, { depth: 1 }] });
});

it.each([
  ["a `b **c**` d", ["text", "code", "text"]],
  ["**bold** and *thin*", ["strong", "text", "em"]],
  ["[text](https://example.test/) and https://example.test/x", ["link", "text", "link"]],
  ["2 * 3 * 4 and a_b_c", ["text"]],
  ["<b onclick=x>no</b>", ["text"]],
])("reads %j", (line, kinds) => {
  expect(parseInline(line).map(({ kind }) => kind)).toEqual(kinds);
});

it("ends with any text, and quickly with the longest", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("*", "`", "[", "](", ")", "> ", "- ", "```", "\n", "#", "|", " ", "a")),
      (parts) => {
        parseMarkdown(parts.join(""));
      },
    ),
  );
  const startMs = performance.now();
  for (const piece of ["*a", "**a ", "[a](", "`", "[", "> ", "- ", "a_*"])
    parseMarkdown(piece.repeat(16_000));
  expect(performance.now() - startMs).toBeLessThan(4_000);
});
