import { describe, expect, it } from "vitest";
import type { Danger } from "../../../contract/review/danger.ts";
import { find, kinds } from "./planted-changes.fixture.ts";

describe("package scripts", () => {
  const pkg = (scripts: object, more: object = {}) =>
    JSON.stringify({ name: "x", scripts, ...more }, null, 2);

  it("each script that was added or changed, with the moment it runs", async () => {
    const found = await find([
      {
        path: "sub/package.json",
        old: pkg({ test: "vitest", build: "tsc" }),
        text: pkg({ test: "vitest", build: "tsc && x", postinstall: "x", constructor: "y" }),
      },
    ]);
    expect(found).toEqual([
      expect.objectContaining({
        kind: "package_script",
        line: 5,
        why: expect.stringMatching(/^Changed script "build"/),
      }),
      expect.objectContaining({ line: 6, why: 'New script "postinstall": npm runs it at the next install.' }),
      expect.objectContaining({ line: 7, why: expect.stringMatching(/^New script "constructor"/) }),
    ]);
    expect(
      await find([{ path: "package.json", old: pkg({ a: "b" }), text: pkg({ a: "b" }, { version: "2" }) }]),
    ).toEqual([]);
  });

  it("other fields that run something", async () => {
    const found = await find([
      { path: "package.json", old: pkg({}), text: pkg({}, { packageManager: "x@1" }) },
    ]);
    expect(found[0]?.why).toMatch(/Corepack/);
  });

  it("what cannot be read is said", async () => {
    expect((await find([{ path: "package.json", text: "{" }])).map(({ kind }) => kind)).toContain(
      "package_script",
    );
    expect(
      (await find([{ path: "package.json", old: "{}", text: "{}", bytes: 3 << 20 }])).map(({ kind }) => kind),
    ).toEqual(["package_script", "lockfile_source", "secret"]);
  });

  it("a file renamed to package.json brings all its scripts", async () => {
    const text = pkg({ prepare: "x" });
    const planted = { path: "package.json", oldPath: "a.json", kind: "renamed", old: text, text } as const;
    expect((await find([{ ...planted, newId: "1".repeat(40) }]))[0]?.why).toMatch(/New script "prepare"/);
    // The scripts are known, but it lies where others install from.
    expect(await find([{ ...planted, oldPath: "a/package.json" }])).toEqual([
      expect.objectContaining({ kind: "unfamiliar", why: expect.stringContaining("Moved") }),
    ]);
  });
});

const lock = (url: string) =>
  JSON.stringify({
    packages: { "node_modules/a": { resolved: url, funding: { url: "https://fund.example" } } },
  });

describe("sources of packages", () => {
  it.each([
    [
      "package-lock.json",
      lock("https://one.example/a.tgz"),
      lock("https://two.example/a.tgz"),
      "two.example",
    ],
    [
      "npm-shrinkwrap.json",
      lock("https://one.example/a.tgz"),
      lock("git+ssh://git@github.com/evil/a.git#1"),
      "github.com/evil/a",
    ],
    ["package.json", '{"dependencies":{"a":"^1"}}', '{"dependencies":{"a":"evil/a"}}', "github/evil/a"],
    [
      "package.json",
      '{"dependencies":{"a":"^1"}}',
      '{"dependencies":{"a":"http://x.example/a.tgz"}}',
      "x.example (not encrypted)",
    ],
    [
      "yarn.lock",
      'a:\n  resolved "https://one.example/a"',
      'a:\n  resolved "https://two.example/a"',
      "two.example",
    ],
    ["pnpm-lock.yaml", "x: 1", "resolution: {tarball: https://two.example/a.tgz}", "two.example"],
    ["Cargo.lock", "", 'source = "git+https://github.com/evil/x?rev=1#2"', "github.com/evil/x"],
    ["poetry.lock", "", 'url = "https://u:p@two.example/simple"', "two.example"],
    ["requirements.txt", "a==1", "a==1\n--index-url https://two.example/simple", "two.example"],
    ["requirements-dev.txt", "a==1", "a @ git+https://github.com/evil/a", "github.com/evil/a"],
    ["go.mod", "module x", "module x\nreplace a/b => ../evil", "../evil"],
    ["Gemfile.lock", "", "GEM\n  remote: https://two.example/", "two.example"],
  ])("%s", async (path, old, text, source) => {
    const sources = (found: readonly Danger[]) => found.filter(({ kind }) => kind === "lockfile_source");
    const [danger, ...more] = sources(await find([{ path, old, text }]));
    expect(danger?.why).toContain(`"${source}"`);
    expect(danger?.line).toBeGreaterThan(0);
    expect(more).toEqual([]);
    expect(sources(await find([{ path, old: text, text: `${text}\n` }]))).toEqual([]);
  });

  it("another version from the same registry is no new source", async () => {
    const [old, text] = [lock("https://one.example/a-1.tgz"), lock("https://one.example/a-2.tgz")];
    expect(await find([{ path: "package-lock.json", old, text }])).toEqual([]);
  });

  it("hides no source behind an escaped key, and shows no credentials", async () => {
    const text = lock("https://u:canary@two.example/a").replace("resolved", String.raw`resol\u0076ed`);
    const found = await find([{ path: "package-lock.json", text }]);
    expect(found[0]?.why).toContain("two.example");
    expect(JSON.stringify(found)).not.toContain("canary");
  });
});

describe("settings of Git", () => {
  it("a filter that is taken away", async () => {
    const old = "secrets/* filter=git-crypt diff=git-crypt\n*.ts text\n";
    expect(await kinds({ path: ".gitattributes", old, text: "*.ts text\n" })).toEqual(["git_settings"]);
    expect(await kinds({ path: ".gitattributes", old, text: "" })).toEqual(["git_settings"]);
    expect(await kinds({ path: ".gitattributes", old, text: `${old}*.js text\n` })).toEqual([]);
  });

  it.each([
    [".gitattributes", "*.c filter=evil", "git_settings"],
    ["sub/.gitattributes", "*.c diff=evil", "git_settings"],
    [".gitattributes", "*.ts -diff", "git_settings"],
    [".gitattributes", "*.ts binary", "git_settings"],
    [".gitattributes", "*.ts text eol=lf", undefined],
    [".gitattributes", "# *.c filter=evil", undefined],
    [".gitmodules", '[submodule "x"]\n\turl = https://github.com/a/b', "submodule"],
    [".gitmodules", "\turl = ext::sh -c x", "submodule"],
    [".gitmodules", "\turl = -u./x", "submodule"],
    [".gitmodules", "\tupdate = !x", "submodule"],
    [".gitmodules", "\tbranch = main", "submodule"],
    [".gitmodules", '[submodule "x"] update = !x', "submodule"],
    [".gitmodules", "\tupdate = \\\n!x", "submodule"],
    [".gitmodules", '[submodule "x"]\n# y', undefined],
  ])("%s %j → %s", async (path, text, kind) => {
    expect(await kinds({ path, text })).toEqual(kind ? [kind] : []);
    expect(await kinds({ path, old: text, text: `${text}\n` })).toEqual([]);
  });
});
