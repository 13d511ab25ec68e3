import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { find, noSecrets } from "./planted-changes.fixture.ts";

/** A project in every language, so that no danger is found only because its language is new. */
const endings =
  "c h cpp rs go java kt scala cs fs swift hs ml zig d f90 erl ex exs js ts vue py rb php pl lua clj groovy r jl lisp rkt cr nim sql dart sol proto elm coffee tt fsx";
async function* everyLanguage(): AsyncGenerator<string, void> {
  yield "README.md";
  for (const ending of endings.split(" ")) yield `src/inner/file.${ending}`;
}

const namesOf = (file: string): string[] =>
  readFileSync(new URL(`../../../../test/fixtures/danger/${file}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

/** Each as a new file with a line of nothing special, alone in its change. */
async function missed(names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    names.map((path) => find([{ path, text: "x\n" }], noSecrets, everyLanguage)),
  );
  return names.filter((_, at) => found[at]!.length === 0);
}

describe("names of files that run something", () => {
  it("the list has no name twice", () => {
    const names = namesOf("names.txt");
    expect(names.length).toBeGreaterThanOrEqual(500);
    expect(new Set(names).size).toBe(names.length);
  });

  it("at least 98 of 100 are flagged", async () => {
    const names = namesOf("names.txt");
    const unflagged = await missed(names);
    const share = 1 - unflagged.length / names.length;
    expect(
      share,
      `${unflagged.length} of ${names.length} missed: ${unflagged.join(" ")}`,
    ).toBeGreaterThanOrEqual(0.98);
  });

  it("of a list that was collected after the rules, at least 85 of 100", async () => {
    const names = namesOf("names-held-out.txt");
    const known = new Set(namesOf("names.txt"));
    expect(names.filter((name) => known.has(name))).toEqual([]);
    const share = 1 - (await missed(names)).length / names.length;
    expect(share).toBeGreaterThanOrEqual(0.85);
  });

  it("names that are close to those of prose are flagged", async () => {
    const names = [
      "install-sh",
      "install",
      "lib/libx.so.1",
      "AMP.md",
      "README.config.js",
      ".github/run.md/x",
    ];
    expect(await missed(names)).toEqual([]);
  });

  it("what lies among data or prose and runs all the same is flagged", async () => {
    const names = [
      "docs/page.mdx static/install.sh assets/run.bash samples/x.fish fixtures/x.awk data/model.pkl public/web.config",
      "public/_worker.js public/_redirects requirements/test.txt packages.txt docs/hooks.py docs/_ext/x.py spec/support/x.rb",
      "features/support/env.js src/libx-gdb.py common/pnpmfile.cjs prompt.txt memory-bank/x.md",
    ].flatMap((some) => some.split(" "));
    expect(await missed(names)).toEqual([]);
  });

  it("names that are others on some system, or only look like one, are flagged", async () => {
    const names = [
      ".GIT/x",
      ".git /x",
      ".g\u200cit/x",
      "src/x.js:y",
      "VSCODE~1/tasks.json",
      "src/GI7EBA~1",
      "PACKAG~1.JSO",
      "sr\u0441/a.ts",
      "l\u0456b/a.ts",
      "src/\uff41b.ts",
      "src/a\u00a0b.ts",
      "src/a\u3000.ts",
      "src/x\u2044y.ts",
      "src/\u202esj.ts",
      "src/a\nb.ts",
      "src/AUX.ts",
    ];
    expect(await missed(names)).toEqual([]);
    expect(
      await missed([
        "src/caf\u00e9.ts",
        "src/\u7528\u6237.ts",
        "src/\u043c\u043e\u0434\u0435\u043b\u044c.ts",
        "docs/a~b.md",
      ]),
    ).toHaveLength(4);
  });

  it("and none is flagged that is known to do nothing by itself", async () => {
    const harmless = [
      "README.md",
      "LICENSE",
      "docs/guide.md",
      "docs/picture.png",
      "src/cart.ts",
      "src/inner/config/read.ts",
      "src/inner/build/link.go",
      "lib/shop/cart.py",
      "tests/test_cart.py",
      "src/inner/cart.test.ts",
      "main.go",
      "src/main.rs",
      "src/locales/de.json",
      "test/fixtures/answer.json",
      "test/fixtures/raw",
      "styles/page.css",
      "public/font.woff2",
      "notes.txt",
      "index.js",
      ".gitkeep",
      "man/man1/shop.1",
      "GUIDE.md",
      ".changeset/red-cats-sing.md",
      ".github/ISSUE_TEMPLATE/bug.md",
    ];
    expect(await missed(harmless)).toEqual(harmless);
  });
});
