import { describe, expect, it } from "vitest";
import { omitUndefined } from "../../../../base/omit-undefined.ts";
import { find } from "../planted-changes.fixture.ts";

/** The kinds of one change, each once. Names at the root and beside a manifest are flagged themselves; these lie deeper. */
const kindsOf = async (path: string, old: string | undefined, text: string): Promise<string[]> => [
  ...new Set((await find([{ path, text, ...omitUndefined({ old }) }])).map(({ kind }) => kind)),
];

describe("new packages", () => {
  const json = (dependencies: object) => JSON.stringify({ name: "x", dependencies });

  it.each([
    ["package.json", json({ a: "^1" }), json({ a: "^1", b: "^1" }), "b"],
    ["package.json", json({ a: "^1" }), json({ a: "npm:evil@^1" }), "a, which is evil"],
    ["package.json", json({ a: "^1" }), json({ a: "npm:@evil/a@1" }), "a, which is @evil/a"],
    [
      "package-lock.json",
      '{"packages":{"node_modules/a":{"version":"1"}}}',
      '{"packages":{"node_modules/a":{"version":"1"},"node_modules/a/node_modules/@b/c":{}}}',
      "@b/c",
    ],
    [
      "package-lock.json",
      '{"packages":{"node_modules/a":{"version":"1"}}}',
      '{"packages":{"node_modules/a":{"version":"1","name":"evil"}}}',
      "a, which is evil",
    ],
    ["yarn.lock", 'a@^1:\n  version "1"', 'a@^1:\n  version "1"\n"b@^2":\n  version "2"', "b@"],
    ["pnpm-lock.yaml", "packages:\n  a@1.0.0:\n", "packages:\n  a@1.0.0:\n  '@b/c@2.0.0':\n", "@b/c"],
    ["requirements.txt", "a==1", "a==1\nb>=2", "b"],
    ["requirements.txt", "a==1", "a==1\n--trusted-host x", "--trusted-host x"],
    ["requirements.txt", "a==1", "a==1\n./evil", "./evil"],
    [
      "pyproject.toml",
      '[project]\ndependencies = ["a>=1"]',
      '[project]\ndependencies = ["a>=1", "B_c"]',
      "b-c",
    ],
    [
      "pyproject.toml",
      '[build-system]\nrequires = ["a"]',
      '[build-system]\nrequires = ["a", "evil"]',
      "evil",
    ],
    [
      "pyproject.toml",
      '[tool.poetry.dependencies]\na = "1"',
      '[tool.poetry.dependencies]\na = "1"\nb = "2"',
      "b",
    ],
    ["Cargo.toml", '[dependencies]\na = "1"', '[dependencies]\na = "1"\nb = { version = "1" }', "b"],
    [
      "Cargo.toml",
      '[dependencies]\na = "1"',
      '[dependencies]\na = { package = "evil", version = "1" }',
      "a, which is evil",
    ],
    [
      "Cargo.toml",
      '[dependencies]\na = "1"',
      '[dependencies]\na = "1"\n[target.x.build-dependencies]\nb = "1"',
      "b",
    ],
    ["Cargo.lock", '[[package]]\nname = "a"', "[[package]]\nname = \"a\"\n[[package]]\nname = 'b'", "b"],
    ["go.mod", "module x", "module x\nrequire example.org/b v1.0.0", "example.org/b"],
    ["go.mod", "module x", "module x\nrequire (\n\texample.org/b v1.0.0\n)", "example.org/b"],
    ["go.mod", "module x", "module x\ntoolchain go1.99.0", "toolchain go1.99.0"],
    ["Gemfile", 'gem "a"', 'gem "a"\ngem "b"', "b"],
    ["Gemfile.lock", "    a (1)", "    a (1)\n    b (2)", "b"],
    ["pom.xml", "<artifactId>a</artifactId>", "<artifactId>a</artifactId>\n<artifactId>b</artifactId>", "b"],
    [
      "build.gradle.kts",
      'implementation("g:a:1")',
      'implementation("g:a:1")\nimplementation("g:b:1")',
      "g:b",
    ],
    ["build.gradle", "", 'plugins { id "evil.plugin" version "1" }', "evil.plugin"],
    ["composer.json", '{"require":{"a/a":"1"}}', '{"require":{"a/a":"1","b/b":"1"}}', "b/b"],
    ["App.csproj", "<Project/>", '<PackageReference Include="B" Version="1" />', "B"],
    ["mix.exs", '{:a, "1"}', '{:a, "1"}\n{:b, "1"}', "b"],
    ["requirements/test.txt", "a==1", "a==1\nb==1", "b"],
    ["Pipfile.lock", '{"default":{"a":{}}}', '{"default":{"a":{}},"develop":{"b":{}}}', "b"],
    [
      "packages.lock.json",
      '{"dependencies":{"net8.0":{"A":{}}}}',
      '{"dependencies":{"net8.0":{"A":{},"B":{}}}}',
      "B",
    ],
    [
      "deno.lock",
      '{"specifiers":{"npm:a@1":"1"}}',
      '{"specifiers":{"npm:a@1":"1","jsr:@b/c@1":"1"}}',
      "jsr:@b/c",
    ],
    [
      "Package.resolved",
      '{"pins":[\n{"identity" : "a"}]}',
      '{"pins":[\n{"identity" : "a"},\n{"identity" : "b"}]}',
      "b",
    ],
    ["pubspec.lock", "packages:\n  a:\n", "packages:\n  a:\n  b:\n", "b"],
    ["Podfile.lock", "PODS:\n  - A (1)", "PODS:\n  - A (1)\n  - B (1)", "B"],
    ["Cartfile.resolved", 'github "a/b" "1"', 'github "a/b" "1"\ngithub "c/d" "1"', 'github "c/d"'],
    ["conda-lock.yml", "- name: a", "- name: a\n- name: b", "b"],
    [
      "pixi.lock",
      "- conda: https://c.test/x/a-b-1.0.conda",
      "- conda: https://c.test/x/evil-b-1.0.conda",
      "evil-b",
    ],
  ])("%s: %j → %j names %s", async (path, old, text, name) => {
    const found = (await find([{ path, old, text }])).filter(({ kind }) => kind === "dependency");
    expect(found).toHaveLength(1);
    expect(found[0]!.why).toContain(`"${name}"`);
    expect(found[0]!.line).toBeGreaterThan(0);
    expect(
      (await find([{ path, old: text, text: `${text}\n` }])).filter(({ kind }) => kind === "dependency"),
    ).toEqual([]);
  });

  it.each([
    ["package-lock.json", "/a/-/a-2.tgz", "/evil/-/evil-2.tgz"],
    ["package-lock.json", "/a/-/a-2.tgz", "/@evil/a/-/a-2.tgz"],
    ["package-lock.json", "/a/-/a-2.tgz", "/@evil%2fa/-/a-2.tgz"],
  ])("%s: what is fetched under a known name is another package (%s → %s)", async (path, old, text) => {
    const lock = (version: string, tarball: string) =>
      JSON.stringify({
        packages: { "node_modules/a": { version, resolved: `https://packages.test${tarball}` } },
      });
    expect(await kindsOf(path, lock("1", "/a/-/a-1.tgz"), lock("2", old))).toEqual([]);
    const [found] = await find([{ path, old: lock("1", "/a/-/a-1.tgz"), text: lock("2", text) }]);
    expect(found?.why).toMatch(/"a, which is @?evil/);
  });

  it.each([
    [
      "yarn.lock",
      'a@^1:\n  resolved "https://r.test/a/-/a-1.tgz#x"',
      'a@^1:\n  resolved "https://r.test/evil/-/evil-1.tgz#x"',
    ],
    ["yarn.lock", '"a@npm:^1":\n  resolution: "a@npm:1.0.0"', '"a@npm:^1":\n  resolution: "evil@npm:1.0.0"'],
    ["bun.lock", '    "a": ["a@1.0.0", ""]', '    "a": ["evil@1.0.0", ""]'],
    [
      "flake.lock",
      '{"nodes":{"n":{"locked":{"type":"github","owner":"NixOS","repo":"nixpkgs"}}}}',
      '{"nodes":{"n":{"locked":{"type":"github","owner":"evil","repo":"nixpkgs"}}}}',
    ],
  ])("%s: %j → %j is another package", async (path, old, text) => {
    const said = (await find([{ path, old, text }])).filter(({ kind }) => kind === "dependency");
    expect(said.map(({ why }) => why).join()).toContain("evil");
    expect(
      (await find([{ path, old, text: `${old}\n` }])).filter(({ kind }) => kind === "dependency"),
    ).toEqual([]);
  });

  it("another version of a package is no danger", async () => {
    expect(await kindsOf("package.json", json({ a: "^1" }), json({ a: "^2" }))).toEqual([]);
    expect(await kindsOf("requirements.txt", "a==1", "a==2")).toEqual([]);
    expect(
      await kindsOf(
        "Cargo.lock",
        '[[package]]\nname = "a"\nversion = "1"',
        '[[package]]\nname = "a"\nversion = "2"',
      ),
    ).toEqual([]);
  });

  it("other content for the same version is said", async () => {
    expect(await kindsOf("go.sum", "m v1 h1:a=", "m v1 h1:b=")).toEqual(["lockfile_source"]);
    expect(await kindsOf("go.sum", "m v1 h1:a=", "m v2 h1:b=")).toEqual([]);
    const lock = (sum: string) =>
      JSON.stringify({ packages: { "node_modules/a": { version: "1", integrity: sum } } });
    expect(await kindsOf("package-lock.json", lock("sha512-a"), lock("sha512-b"))).toEqual([
      "lockfile_source",
    ]);
    const cargo = (sum: string) => `[[package]]\nname = "a"\nversion = "1"\nchecksum = "${sum}"\n`;
    expect(await kindsOf("Cargo.lock", cargo("a"), cargo("b"))).toEqual(["lockfile_source"]);
  });
});

describe("entry points", () => {
  it.each([
    ["package.json", "{}", '{"main":"x.js"}', "main"],
    ["package.json", "{}", '{"exports":{"./x":"./y.js"}}', "exports"],
    ["pyproject.toml", "", '[project.scripts]\nx = "y:z"', "project.scripts"],
    ["pyproject.toml", "", '[project.entry-points.pytest11]\nx = "y"', "project.entry-points"],
    ["pyproject.toml", "", '[build-system]\nrequires = []\nbackend-path = ["."]', "build-system"],
    ["Cargo.toml", "", '[package]\nbuild = "x.rs"', "package.build"],
    ["Cargo.toml", "", "[lib]\nproc-macro = true", "lib.proc-macro"],
    ["Cargo.toml", "", '[[bin]]\nname = "x"', "bin"],
    ["composer.json", "{}", '{"autoload":{"files":["x.php"]}}', "autoload"],
  ])("%s gains %s", async (path, old, text, field) => {
    const found = (await find([{ path, old, text }])).filter(({ kind }) => kind === "package_script");
    expect(found.map(({ why }) => why).join()).toContain(`"${field}"`);
    expect(
      (await find([{ path, old: text, text: `${text}\n` }])).filter(({ kind }) => kind === "package_script"),
    ).toEqual([]);
  });

  it("a field of package.json that no rule knows is unfamiliar", async () => {
    expect(await kindsOf("package.json", "{}", '{"jest":{"globalSetup":"./x.js"}}')).toEqual(["unfamiliar"]);
    expect(await kindsOf("package.json", "{}", '{"description":"x","version":"2"}')).toEqual([]);
  });
});

describe("orders to tools in source", () => {
  it.each([
    ["src/a.go", "//go:generate sh -c x"],
    ["src/a.go", "// #cgo LDFLAGS: -Wl,x"],
    ["src/a.go", 'import "C"'],
    ["src/a.rs", '#[path = "../../x.rs"]'],
    ["src/a.rs", '#[cfg_attr(all(), path = "../x.rs")]'],
    ["src/a.rs", '    path = "../x.rs"'],
    ["src/a.rs", "#["],
    ["src/a.rs", 'include!("x.txt");'],
    ["src/a.go", "import `C`"],
    ["docs/a.svg", "<a xlink:href='java&#115;cript:x'/>"],
    ["docs/a.svg", '<set attributeName="onload" to="x()"/>'],
    ["docs/a.svg", "<!ENTITY x 'y'>"],
    ["docs/a.svg", "onload"],
    ["src/a.rs", "#[proc_macro_derive(X)]"],
    ["src/A.java", String.raw`// \u000a evil();`],
    ["src/A.java", String.raw`/* \u002a\u002f evil(); /* */`],
    ["src/A.java", String.raw`// \uuuu000Aevil();`],
    ["src/a.py", "# -*- coding: unicode_escape -*-"],
    ["src/a.py", "# vim: set fileencoding=utf-7 :"],
    ["src/a.rb", "# encoding: utf-7"],
    ["src/a.php", "<?php declare(encoding='UTF-7');"],
    ["src/a.c", "__attribute__((constructor)) void x(void) {}"],
    ["src/a.c", '#include "/etc/x.h"'],
    ["src/a.c", "// what??/"],
    ["src/a.cs", "[ModuleInitializer]"],
    ["src/a.hs", "{-# OPTIONS_GHC -F -pgmF x #-}"],
    ["src/a.hs", "{-# options -F -pgmF x #-}"],
    ["src/a.hs", "  , TemplateHaskell"],
    ["src/a.lhs", "    -F -pgmF ./x"],
    ["src/a.scala", "import $ivy.`x::y:1`"],
    ["docs/a.md", "```{code-cell} python"],
    ["docs/a.md", '```python exec="on"'],
    ["docs/a.rst", ".. program-output:: sh x"],
    ["docs/a.rst", ".. jupyter-execute::"],
    ["docs/a.rst", ".. include:: /etc/passwd"],
    ["docs/a.rst", ".. literalinclude:: ../.env"],
    ["docs/a.rst", "   :file: ../../.npmrc"],
    ["docs/a.adoc", "include::https://x.test/y.adoc[]"],
    ["docs/a.md", "{{#include ../../.env}}"],
    ["docs/a.md", '--8<-- ".env"'],
    ["fixtures/a.yaml", "x: !!python/object/apply:os.system [id]"],
    ["fixtures/a.yml", "x: !ruby/object:Gem::Installer"],
    ["data/a.xml", '<!ENTITY x SYSTEM "file:///etc/passwd">'],
    ["docs/a.svg", '<svg onload="x()">'],
    ["docs/a.md", '-*- mode: text; eval: (shell-command "x") -*-'],
    ["docs/a.md", "vim: set fdm=expr fde=system('x'):"],
    ["docs/a.md", 'rem eval: (shell-command "x")'],
    ["src/a.test.ts", "/** @jest-environment ./x.js */"],
    ["src/a.ts", 'import x from "npm:evil@1";'],
    ["src/a.ts", 'await import("https://x.test/y.js");'],
    ["styles/a.less", '@plugin "x";'],
    ["styles/a.less", "@x: `process.exit()`;"],
    ["styles/a.styl", "use('x.js')"],
    ["src/a.sql", String.raw`\! sh x`],
    ["src/a.sql", "COPY t FROM PROGRAM 'x';"],
    ["src/a.py", "# /// script"],
    ["src/a.scala", "//> using dep x::y:1"],
    ["src/A.java", "//DEPS x:y:1"],
    ["src/a.exs", "Mix.install([:x])"],
    ["src/a.rb", 'require "bundler/inline"'],
    ["src/a.cs", "#:package x@1"],
    ["src/a.swift", "macro x() = #externalMacro(module: a, type: b)"],
    ["src/a.cr", '{{ run("./x") }}'],
    ["src/a.rs", 'include_str!("/etc/x")'],
    ["src/a.rs", 'include_bytes!("../../../x")'],
    ["src/a.nim", '{.passL: "x".}'],
  ])("%s: %s", async (path, line) => {
    expect(await kindsOf(path, "first\n", `${line}\nfirst\n`)).toEqual(["code_directive"]);
    expect(await kindsOf(path, `${line}\n`, `${line}\nmore\n`)).toEqual([]);
  });

  it.each([
    ["src/a.go", "//go:embed x.txt"],
    ["src/a.go", "// generate the table"],
    ["src/a.rs", "let path = include_str;"],
    ["src/A.java", String.raw`String s = "\u00e9";`],
    ["src/a.py", "# -*- coding: utf-8 -*-"],
    ["src/a.rb", "# frozen_string_literal: true"],
    ["src/a.c", "int x; // why??"],
    [
      "docs/a.svg",
      '<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1"><path d="M0 0"/><use xlink:href="#a"/></svg>',
    ],
    ["docs/a.md", "vim: set ts=4:"],
    ["docs/a.rst", ".. literalinclude:: ../../examples/x.py"],
    ["docs/a.adoc", "include::parts/x.adoc[]"],
    ["docs/a.md", "{{#include ../listings/x.rs:here}}"],
    ["docs/a.md", "Executes (exec=1) the plan; see include::"],
    ["src/a.hs", "{-# LANGUAGE OverloadedStrings #-}"],
    ["data/a.xml", '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "x.dtd">'],
    ["fixtures/a.yaml", "x: !!str 1"],
  ])("%s: %s is no danger", async (path, line) => {
    expect(await kindsOf(path, "first\n", `${line}\nfirst\n`)).toEqual([]);
  });
});

describe("whatever the text is", () => {
  const hostile = [
    "-*-",
    "vim: ",
    "\n",
    " \n",
    " ",
    "\t",
    '"\\',
    "'",
    "<PackageReference ",
    "\u0441 ",
    "x \u01c3 '\\",
    "__attribute__((",
    "{-# LANGUAGE ",
    "# coding",
    "\\u",
    ".package(",
    "name = ",
    '"a:',
    "@",
    "/*",
    "include::",
    "exec = ",
    "!!",
    "[",
    "{",
    "=",
    "\n  a",
  ];
  const names =
    "src/a.go src/a.rs src/a.c src/A.java src/a.py src/a.svg src/a.hs src/a.ts App.csproj pom.xml build.gradle yarn.lock go.mod go.sum Cargo.toml Cargo.lock pyproject.toml requirements.txt package.json package-lock.json Package.swift Gemfile src/a.sql src/a.cr src/a.less bun.lock flake.lock deno.lock .gitattributes src/__snapshots__/a.snap docs/a.rst fixtures/a.yaml data/a.xml data/a.csv styles/a.css pnpm-lock.yaml Podfile.lock pubspec.lock";

  it.each(names.split(" "))(
    "%s of a hundred thousand characters takes no longer than its length explains",
    async (path) => {
      const timeMs = async (text: string): Promise<number> => {
        // Of the processor, because a busy machine makes every clock run.
        const began = process.cpuUsage();
        await find([{ path, old: "", text }]);
        const { user, system } = process.cpuUsage(began);
        return (user + system) / 1_000;
      };
      for (const piece of hostile) {
        const short = piece.repeat(Math.ceil(16_000 / piece.length));
        const long = piece.repeat(Math.ceil(128_000 / piece.length));
        // Eight times the text: linear is eight times the time, quadratic sixty-four.
        const shortMs = Math.max(await timeMs(short), 15);
        expect(await timeMs(long), `${JSON.stringify(piece)} in ${path}`).toBeLessThan(shortMs * 32);
      }
    },
  );
});
