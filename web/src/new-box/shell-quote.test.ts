import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, it } from "vitest";
import { shellLine } from "./shell-quote.ts";

/** The words that a real shell reads from the line. */
const argvOf = (line: string): string[] =>
  execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${line}`], {
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin" },
  })
    .split("\0")
    .slice(0, -1);

it.each([
  [
    [
      "a b",
      "",
      "it's",
      '"',
      "$HOME",
      "`id`",
      "$(id)",
      "a;b",
      "a\nb",
      "\\",
      "*",
      "~",
      "#x",
      "!x",
      "-x",
      "é",
      "'",
    ],
  ],
])("gives a shell back what went in: %j", (words) => {
  expect(argvOf(shellLine(words))).toEqual(words);
});

it("does so whatever it is", () => {
  const word = fc
    .string({
      unit: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...Array.from("'\"$`\\!*?[]{}()<>|&;~# \t\n=")) },
        { weight: 2, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }) },
      ),
    })
    .filter((text) => !text.includes("\0") && text.isWellFormed());
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), (words) => {
      expect(argvOf(shellLine(words))).toEqual(words);
    }),
    { numRuns: 100 },
  );
});
