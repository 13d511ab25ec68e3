import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costRatio } from "../../../../test/support/cost.ts";
import { Change } from "../../../contract/review/change.ts";
import { DangerKind } from "../../../contract/review/danger.ts";
import { maxDangers } from "./danger-list.ts";
import { findDangers } from "./find-dangers.ts";
import { changeOf, find, noPaths, noSecrets } from "./planted-changes.fixture.ts";

describe("the list", () => {
  it("is sorted by kind, then by path", async () => {
    const found = await find([
      { path: "b.exe" },
      { path: "a.exe" },
      { path: ".envrc" },
      { path: ".husky/x" },
    ]);
    expect(found.map(({ path }) => path)).toEqual([".husky/x", ".envrc", "a.exe", "b.exe"]);
  });

  it("is cut at a thousand, and no kind is pushed off it", async () => {
    const flood = Array.from({ length: 2_000 }, (_, at) => ({ path: `.husky/${at}` }));
    const found = await find([...flood, { path: "a.png", isBinary: true, bytes: 2 << 20 }]);
    expect(found).toHaveLength(maxDangers);
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(["hook", "secret", "large_binary"]));
    expect(found.at(-1)).toMatchObject({
      kind: "hook",
      why: expect.stringMatching(/^1003 more dangers .*1003 × hook/),
    });
  });

  it("reads no more than it may, and says what it did not read", async () => {
    let chars = 0;
    const text = "x\n".repeat(1 << 19);
    const found = await findDangers({
      changes: Array.from({ length: 100 }, (_, at) => changeOf({ path: `src/f${at}.ts`, text })),
      oldContent: () => Promise.resolve(undefined),
      newContent: () => {
        chars += text.length;
        return Promise.resolve(text);
      },
      scan: noSecrets,
      paths: noPaths,
    });
    expect(chars).toBe(64 << 20);
    expect(found).toMatchObject([{ kind: "secret", why: expect.stringContaining("35 other files") }]);
  });

  it("takes ten thousand changes at ten times the cost of a thousand", async () => {
    const none = () => Promise.resolve("");
    const look = async (length: number) => {
      const changes = Array.from({ length }, (_, at) =>
        changeOf({ path: `packages/part-${at % 50}/src/Some Directory/file-${at}.ts`, text: "x" }),
      );
      const found = { changes, oldContent: none, newContent: none, scan: noSecrets, paths: noPaths };
      expect(await findDangers(found)).toEqual([]);
    };
    const ratio = await costRatio(
      () => look(10_000),
      () => look(1_000),
    );
    // Comparing every change with every other one would cost a hundred times as much.
    expect(ratio).toBeLessThan(40);
  });
});

describe("whatever the box wrote", () => {
  const names = fc.constantFrom(
    "package.json",
    "package-lock.json",
    "yarn.lock",
    ".gitmodules",
    ".gitattributes",
    "go.mod",
    "requirements.txt",
    "composer.lock",
    "deno.json",
    "constructor",
    "__proto__",
    "a.ts",
    "link",
    "",
  );
  const segment = fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), names);
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
  const content = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.option(fc.string(), { nil: undefined }),
  );
  const change = fc.record({
    path,
    oldPath: path,
    kind: Change.shape.kind.options
      ? fc.constantFrom(...Change.shape.kind.options)
      : fc.constant("added" as const),
    oldMode: fc.constantFrom(...Change.shape.oldMode.options),
    newMode: fc.constantFrom(...Change.shape.newMode.options),
    isBinary: fc.boolean(),
    bytes: fc.nat(3 << 20),
  });

  it("never throws, and every danger keeps the contract", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 8 }), content, content, async (planted, old, text) => {
        const found = await findDangers({
          changes: planted.map(changeOf),
          oldContent: () => Promise.resolve(old),
          newContent: () => (text === "" ? Promise.reject(new TypeError("gone")) : Promise.resolve(text)),
          scan: noSecrets,
          paths: noPaths,
        });
        for (const { kind, why } of found) {
          expect(DangerKind.options).toContain(kind);
          expect(why).toMatch(/^\S.*\.$/su);
          expect(why).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("JSON nested very deep", async () => {
    const deep = `{"scripts":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}},"overrides":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`;
    for (const path of ["package.json", "package-lock.json"])
      await expect(find([{ path, text: deep }])).resolves.toBeDefined();
  });
});

it("a language is the project's only if a file of it was there before the work", async () => {
  const planted = [{ path: "src/a.py" }, { path: "src/b.py" }];
  const tree = (...others: string[]) =>
    async function* paths() {
      yield* [...others, "src/a.py", "src/b.py"];
    };
  const kinds = async (...others: string[]) =>
    (await find(planted, noSecrets, tree(...others))).map(({ kind, path }) => `${kind} ${path}`);
  expect(await kinds("src/c.go")).toEqual(["unfamiliar src/a.py", "unfamiliar src/b.py"]);
  expect(await kinds("src/c.go", "src/c.py")).toEqual([]);
});
