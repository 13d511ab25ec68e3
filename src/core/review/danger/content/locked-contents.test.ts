import { describe, expect, it } from "vitest";
import { find } from "../planted-changes.fixture.ts";

const kindsOf = async (path: string, old: string, text: string): Promise<string[]> => [
  ...new Set((await find([{ path, old, text }])).map(({ kind }) => kind)),
];

const [first, second] = ["a".repeat(64), "b".repeat(64)];
/** Each format with a package in one version, of which `version` and `sum` are left open. */
const formats: Readonly<Record<string, (version: string, sum: string) => string>> = {
  "go.sum": (version, sum) => `example.test/left v${version} h1:${sum}=\n`,
  "package-lock.json": (version, sum) =>
    JSON.stringify({ packages: { "node_modules/left": { version, integrity: sum && `sha512-${sum}` } } }),
  "npm-shrinkwrap.json": (version, sum) =>
    JSON.stringify({ dependencies: { left: { version, integrity: sum && `sha512-${sum}` } } }),
  "yarn.lock": (version, sum) => `left@^1:\n  version "${version}"\n${sum && `  integrity sha512-${sum}\n`}`,
  "x/yarn.lock": (version, sum) =>
    `"left@npm:^1":\n  version: ${version}\n  resolution: "left@npm:${version}"\n${sum && `  checksum: 10c0/${sum}\n`}`,
  "pnpm-lock.yaml": (version, sum) =>
    `packages:\n\n  left@${version}:\n    resolution: {${sum && `integrity: sha512-${sum}`}}\n\nsnapshots:\n\n  left@${version}: {}\n`,
  "x/pnpm-lock.yaml": (version, sum) =>
    `packages:\n\n  /@a/left@${version}(b@1.0.0):\n    resolution: {${sum && `integrity: sha512-${sum}`}}\n`,
  "bun.lock": (version, sum) =>
    `{\n  "packages": {\n    "left": ["left@${version}", "", {}${sum && `, "sha512-${sum}"`}],\n  }\n}\n`,
  "Cargo.lock": (version, sum) =>
    `[[package]]\nname = "left"\nversion = "${version}"\n${sum && `checksum = "${sum}"\n`}`,
  "poetry.lock": (version, sum) =>
    `[[package]]\nname = "left"\nversion = "${version}"\nfiles = [${sum && `{file = "left.whl", hash = "sha256:${sum}"}`}]\n`,
  "uv.lock": (version, sum) =>
    `[[package]]\nname = "left"\nversion = "${version}"\nwheels = [{ file = "left.whl"${sum && `, hash = "sha256:${sum}"`} }]\n`,
  "Pipfile.lock": (version, sum) =>
    JSON.stringify({ default: { left: { version: `==${version}`, hashes: sum ? [`sha256:${sum}`] : [] } } }),
  "packages.lock.json": (version, sum) =>
    JSON.stringify({ dependencies: { net8: { Left: { resolved: version, contentHash: sum } } } }),
  "deno.lock": (version, sum) => JSON.stringify({ npm: { [`left@${version}`]: { integrity: sum } } }),
  "composer.lock": (version, sum) =>
    JSON.stringify({ packages: [{ name: "a/left", version, source: { reference: sum } }] }),
  "Gemfile.lock": (version, sum) =>
    `GEM\n  specs:\n    left (${version})\n\nCHECKSUMS\n  left (${version})${sum && ` sha256=${sum}`}\n`,
  "mix.lock": (version, sum) => `%{\n  "left": {:hex, :left, "${version}", "${sum}", [:mix]},\n}\n`,
  "pubspec.lock": (version, sum) =>
    `packages:\n  left:\n    description:\n      name: left\n${sum && `      sha256: "${sum}"\n`}    version: "${version}"\n`,
  "Podfile.lock": (version, sum) =>
    `PODS:\n  - Left (${version})\n\nSPEC CHECKSUMS:\n  Left: ${sum || "-"}\n`,
  "Package.resolved": (version, sum) =>
    JSON.stringify({ pins: [{ identity: "left", state: { version, revision: sum } }] }),
  "pixi.lock": (version, sum) => `packages:\n- conda: left-${version}.conda\n${sum && `  sha256: ${sum}\n`}`,
  "requirements.txt": (version, sum) => `left==${version}${sum && ` \\\n    --hash=sha256:${sum}`}\n`,
};
const names = Object.keys(formats);

describe("what a lock file says a package must be", () => {
  it.each(names)("%s: other content for the same version is said", async (path) => {
    const of = formats[path]!;
    const [danger, ...more] = (
      await find([{ path, old: of("1.0.0", first), text: of("1.0.0", second) }])
    ).filter(({ kind }) => kind === "lockfile_source");
    expect(danger?.why).toMatch(/^Other content for the same version/);
    expect(danger?.line).toBeGreaterThan(0);
    expect(more).toEqual([]);
  });

  it.each(names)("%s: another version is none", async (path) => {
    const of = formats[path]!;
    expect(await kindsOf(path, of("1.0.0", first), of("1.0.1", second))).toEqual([]);
    expect(await kindsOf(path, of("1.0.0", first), `${of("1.0.0", first)}\n`)).toEqual([]);
  });

  // An entry without a hash is none there, or has another name for each version.
  const always = new Set(["go.sum", "Podfile.lock", "mix.lock", "pixi.lock"]);
  it.each(names.filter((name) => !always.has(name)))(
    "%s: content that is no longer checked is said",
    async (path) => {
      const of = formats[path]!;
      for (const version of ["1.0.0", "1.0.1"]) {
        const [danger] = await find([{ path, old: of("1.0.0", first), text: of(version, "") }]);
        expect(danger, version).toMatchObject({
          kind: "lockfile_source",
          why: expect.stringContaining("no longer checked"),
        });
      }
      expect(await kindsOf(path, of("1.0.0", ""), of("1.0.1", ""))).toEqual([]);
    },
  );

  it("a package of the project itself beside one of its name is none", async () => {
    const lock = (version: string) =>
      `"left@npm:^1":\n  version: ${version}\n  checksum: 10c0/${version.padEnd(64, "0")}\n\n"left@workspace:.":\n  version: 0.0.0-use.local\n`;
    expect(await kindsOf("yarn.lock", lock("1.0.0"), lock("1.0.1"))).toEqual([]);
  });

  it("a package that runs a program at its installation now", async () => {
    const lock = (more: object) =>
      JSON.stringify({ packages: { "node_modules/left": { version: "1", ...more } } });
    const found = await find([
      { path: "package-lock.json", old: lock({}), text: lock({ hasInstallScript: true }) },
    ]);
    expect(found).toEqual([expect.objectContaining({ kind: "package_script" })]);
  });
});

describe("directories in the place of packages", () => {
  const dependency = (version: string) => JSON.stringify({ dependencies: { left: version } });
  const entry = (more: object) => JSON.stringify({ packages: { "node_modules/left": more } });

  const places: readonly (readonly [path: string, old: string, text: string])[] = [
    ...["exec:./x.js", "../x", "./x", "~/x", "/x", "x.tgz", "workspace:*", "catalog:"].map(
      (version) => ["package.json", dependency("^1"), dependency(version)] as const,
    ),
    ["package-lock.json", entry({ version: "1" }), entry({ resolved: "tools/x", link: true })],
    ["pnpm-lock.yaml", "packages:\n", "packages:\n\n  left@1.0.0:\n    resolution: {directory: tools/x}\n"],
    ["Gemfile.lock", "GEM\n  remote: https://a.test/\n", "PATH\n  remote: tools/x\n"],
    ["uv.lock", "", '[[package]]\nsource = { editable = "tools/x" }\n'],
    ["composer.lock", "{}", '{"packages":[{"name":"a/left","dist":{"type":"path","url":"tools/x"}}]}'],
    ["Pipfile.lock", "{}", '{"default":{"left":{"path":"tools/x"}}}'],
    ["requirements.txt", "left==1.0\n", "left @ ./tools/x\n"],
    ["pubspec.lock", "packages:\n", 'packages:\n  left:\n    description:\n      path: "../x"\n'],
    ["Package.resolved", "{}", '{"pins":[{"identity":"left","location":"/tmp/x"}]}'],
  ];

  it.each(places)("%s: %s → %s", async (path, old, text) => {
    expect(await kindsOf(path, old, text)).toContain("lockfile_source");
    expect(await kindsOf(path, text, `${text}\n`)).toEqual([]);
  });

  it.each(["^1.2.3", "1.x || >=2 <3", "latest", "*", "", "~1.0.0-beta.1+x", "npm:left@1"])(
    "the version %j is none",
    async (version) => {
      expect(await kindsOf("package.json", dependency("0"), dependency(version))).not.toContain(
        "lockfile_source",
      );
    },
  );
});

describe("lists that are moved", () => {
  const moved = (oldPath: string, path: string, text: string) =>
    find([{ path, oldPath, kind: "renamed", oldMode: "100644", newId: "1".repeat(40), old: text, text }]);

  it.each([
    ["package.json", '{"scripts":{"postinstall":"x"}}'],
    ["package-lock.json", '{"packages":{}}'],
    ["requirements.txt", "left==1.0\n"],
    [".gitattributes", "*.key filter=x\n"],
  ])("%s from the data of a test to the top", async (name, text) => {
    expect(await moved(`test/fixtures/x/${name}`, name, text)).not.toEqual([]);
    expect(await moved(`test/fixtures/x/${name}`, `test/fixtures/x/${name}`, text)).toEqual([]);
  });
});

describe("aliases", () => {
  it.each([
    [
      "package.json",
      '{"overrides":{"a":{"left":"1"}}}',
      '{"overrides":{"a":{"left":"npm:evil@1"}}}',
      "left, which is evil",
    ],
    [
      "mix.lock",
      '%{\n  "left": {:hex, :left, "1.0.0", ""},\n}',
      '%{\n  "left": {:hex, :evil, "1.0.0", ""},\n}',
      "left, which is evil",
    ],
    ["gradle.lockfile", "a:b:1.0=x", "a:b:1.0=x\nc:evil:1.0=x", "c:evil"],
    ["dev-reqs.txt", "a==1", "a==1\nevil==2", "evil"],
    ["deps.txt", "a==1", "a==1\nevil==2", "evil"],
  ])("%s: %s → %s", async (path, old, text, name) => {
    const found = (await find([{ path, old, text }])).filter(({ kind }) => kind === "dependency");
    expect(found.map(({ why }) => why)).toEqual([expect.stringContaining(`"${name}"`)]);
  });
});
