import { describe, expect, it } from "vitest";
import { detectProject } from "./detect-project.ts";

const detect = (files: Readonly<Record<string, string>>) =>
  detectProject({ names: new Set(Object.keys(files)), text: (name) => files[name] });

const scripts = { test: "vitest run" };

describe("a Node project", () => {
  it.each([
    ["npm", { "package-lock.json": "" }, "npm ci && npm test"],
    ["pnpm", { "pnpm-lock.yaml": "" }, "pnpm install --frozen-lockfile && pnpm test"],
    ["yarn", { "yarn.lock": "" }, "yarn install --immutable && yarn test"],
    ["bun", { "bun.lock": "" }, "bun install --frozen-lockfile && bun run test"],
    ["npm", {}, "npm install && npm test"],
  ])("of %s", (kind, lock, command) => {
    const text = JSON.stringify({ scripts, devDependencies: { vitest: "4" } });
    expect(detect({ "package.json": text, ...(lock as Record<string, string>) })).toEqual({
      kinds: [kind],
      checks: [{ name: "test", command }],
      presets: ["npm"],
      hosts: [],
    });
  });

  it("says its package manager itself, which counts more than a lock file", () => {
    const text = JSON.stringify({ scripts, packageManager: "pnpm@10.1.0", dependencies: { a: "1" } });
    expect(detect({ "package.json": text, "package-lock.json": "" }).kinds).toEqual(["pnpm"]);
  });

  it("installs nothing where nothing is needed", () => {
    expect(detect({ "package.json": JSON.stringify({ scripts }) }).checks).toEqual([
      { name: "test", command: "npm test" },
    ]);
  });

  it("has no check where it has no test of its own, or cannot be read", () => {
    const placeholder = { test: 'echo "Error: no test specified" && exit 1' };
    expect(detect({ "package.json": JSON.stringify({ scripts: placeholder }) }).checks).toEqual([]);
    expect(detect({ "package.json": "{" })).toMatchObject({ kinds: ["npm"], checks: [] });
  });
});

describe("a Python project", () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ["Python with pytest", { "pyproject.toml": "[tool.pytest.ini_options]" }, "python3 -m pytest"],
    [
      "Python with pytest",
      { "pyproject.toml": "[project]", "conftest.py": "", "uv.lock": "" },
      "uv run python -m pytest",
    ],
    [
      "Python with pytest",
      { "pyproject.toml": 'dev = ["pytest"]', "poetry.lock": "" },
      "poetry install && poetry run python -m pytest",
    ],
    [
      "Python with pytest",
      { "requirements.txt": "pytest==9" },
      "python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt && python3 -m pytest",
    ],
    ["Python with unittest", { "setup.py": "", "test_shop.py": "" }, "python3 -m unittest"],
    ["Python", { "setup.py": "" }, undefined],
  ])("is %s", (kind, files, command) => {
    const { kinds, checks, presets } = detect(files);
    expect(kinds).toEqual([kind]);
    expect(checks.map((check) => check.command)).toEqual(command === undefined ? [] : [command]);
    expect(presets).toEqual(["pip"]);
  });
});

it.each<[string, Record<string, string>, string, readonly string[], readonly string[]]>([
  ["Go", { "go.mod": "" }, "go test ./...", ["go"], []],
  ["Rust", { "Cargo.toml": "" }, "cargo test", ["cargo"], []],
  ["Maven", { "pom.xml": "", mvnw: "" }, "./mvnw --batch-mode test", [], ["repo.maven.apache.org"]],
  ["Gradle", { "build.gradle.kts": "" }, "gradle test", [], ["repo.maven.apache.org", "plugins.gradle.org"]],
  ["make", { Makefile: "build:\n\tcc a.c\ncheck: build\n\t./a\n" }, "make check", [], []],
])("detects %s", (kind, files, command, presets, hosts) => {
  expect(detect(files)).toEqual({ kinds: [kind], checks: [{ name: "test", command }], presets, hosts });
});

it("names the check of each kind where there are several, and asks make only where nothing else has a test", () => {
  const files = { "go.mod": "", "Cargo.toml": "", Makefile: "test:\n\tgo test\n" };
  expect(detect(files)).toMatchObject({
    kinds: ["Go", "Rust"],
    checks: [
      { name: "test-go", command: "go test ./..." },
      { name: "test-rust", command: "cargo test" },
    ],
    presets: ["go", "cargo"],
  });
});

it("takes no variable of a Makefile for a target, and finds nothing in an empty directory", () => {
  expect(detect({ Makefile: "test := 1\n" }).checks).toEqual([]);
  expect(detect({})).toEqual({ kinds: [], checks: [], presets: [], hosts: [] });
});
