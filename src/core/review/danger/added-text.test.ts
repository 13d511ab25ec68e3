import { describe, expect, it } from "vitest";
import type { SecretScan } from "../../../ports/secret-scan.ts";
import { find, kinds } from "./planted-changes.fixture.ts";

describe("hidden text", () => {
  it.each([
    ["a\u202eb", "right-to-left override, U+202E"],
    ["a\u2066b", "left-to-right isolate, U+2066"],
    ["a\u200bb", "zero width space, U+200B"],
    ["if (a\u200db)", "zero width joiner, U+200D"],
    ["x\u{e0041}\u{e0042}", "tag character, U+E0041"],
    ["x\ufe01\ufe02\ufe03", "row of variation selectors, U+FE01"],
    ["x\u{e0101}\u{e0102}", "row of variation selectors, U+E0101"],
    ["const \u3164 = 1", "Hangul filler, U+3164"],
    ["a\u001b[2Kb", "escape, U+001B"],
    ["evil()\rgood()", "carriage return inside a line, U+000D"],
    ["a\ufeffb", "zero width no-break space, U+FEFF"],
    ["plain text\r", undefined],
    ["\täöü 日本語 עברית עברי العربية", undefined],
    ["👩‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍💻 ❤️ 1️⃣", undefined],
    ["🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}", undefined],
    ["می\u200cخواهم क्\u200dष", undefined],
  ])("%j → %s", async (line, name) => {
    const found = await find([{ path: "src/a.ts", text: `first\n${line}\nlast` }]);
    if (name === undefined) expect(found).toEqual([]);
    else expect(found).toMatchObject([{ kind: "hidden_text", line: 2, why: expect.stringContaining(name) }]);
  });

  it("only in added lines; a byte order mark at the start does not count", async () => {
    expect(await find([{ path: "src/a.ts", old: "a\u202eb", text: "new\na\u202eb" }])).toEqual([]);
    expect(await find([{ path: "src/a.ts", old: "a\u202eb", text: "a\u202eb\na\u202eb" }])).toMatchObject([
      { line: 2 },
    ]);
    expect(await find([{ path: "src/a.ts", text: "\ufeffa" }])).toEqual([]);
  });

  it("a source file that the diff shows as binary", async () => {
    expect(await kinds({ path: "src/a.js", text: "a\0b", isBinary: true })).toEqual(["hidden_text"]);
    for (const path of ["src/a.ex", "src/a.dart", "src/a.hs", "styles/a.scss", "src/a.clj"])
      expect(await kinds({ path, text: "a\0b", isBinary: true }), path).toEqual(["hidden_text"]);
    expect(await kinds({ path: "a.png", text: "a\0\u200bb", isBinary: true })).toEqual([]);
  });

  it("a file full of it is summed up", async () => {
    const found = await find([{ path: "src/a.ts", text: "\u200b\n".repeat(500) }]);
    expect(found).toHaveLength(21);
    expect(found.map(({ why }) => why).join()).toContain("480 more lines");
  });
});

describe("secrets", () => {
  const scan: SecretScan["scan"] = (text) =>
    Promise.resolve(
      text
        .split("\n")
        .flatMap((line, at) =>
          line.includes("KEY")
            ? [{ line: at + 1, endLine: at + (line === "KEY BEGIN" ? 2 : 1), what: "test key" }]
            : [],
        ),
    );

  it("in added lines only", async () => {
    expect(await find([{ path: "src/a.ts", old: "KEY", text: "KEY\nx\nKEY 2" }], scan)).toMatchObject([
      { kind: "secret", path: "src/a.ts", line: 3, why: expect.stringContaining("test key") },
    ]);
    expect(await find([{ path: "src/a.ts", old: "KEY", text: "x\nKEY" }], scan)).toEqual([]);
  });

  it("of several lines count when one of them is new", async () => {
    expect(await find([{ path: "src/a.ts", old: "KEY BEGIN\n1", text: "KEY BEGIN\n2" }], scan)).toHaveLength(
      1,
    );
    expect(await find([{ path: "src/a.ts", old: "KEY BEGIN\n1", text: "KEY BEGIN\n1\nx" }], scan)).toEqual(
      [],
    );
  });

  it("a scan that fails and a file that is too large are said, not passed over", async () => {
    const failing = () => Promise.reject(new TypeError("no"));
    expect(await find([{ path: "src/a.ts" }, { path: "src/b.ts" }], failing)).toMatchObject([
      { kind: "secret", path: "src/a.ts", why: expect.stringContaining("failed; the same for 1 other file") },
    ]);
    expect(await find([{ path: "src/a.ts", bytes: 2 << 20 }])).toMatchObject([
      { kind: "secret", path: "src/a.ts", why: expect.stringContaining("not searched") },
    ]);
  });
});
