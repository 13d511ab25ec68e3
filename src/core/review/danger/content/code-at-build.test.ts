import { describe, expect, it } from "vitest";
import { omitUndefined } from "../../../../base/omit-undefined.ts";
import { find } from "../planted-changes.fixture.ts";

const kindsOf = async (path: string, old: string | undefined, text: string): Promise<string[]> => [
  ...new Set((await find([{ path, text, ...omitUndefined({ old }) }])).map(({ kind }) => kind)),
];

describe("lines that run something at a build, or when a file is opened", () => {
  it.each([
    ["styles/a.css", '@plugin "./x.js";'],
    ["styles/a.css", "@config './x.js';"],
    ["styles/a.scss", '@plugin "./x.js";'],
    ["src/a.vue", '<style>@plugin "./x.js";</style>'],
    ["src/a.js", 'import x from "!!./loader.js!./x.txt";'],
    ["src/a.js", 'require("./loader.js!./x.txt");'],
    ["src/a.ts", 'import { x } from "./y.js" with { type: "macro" };'],
    ["src/a.js", 'import x from "./x.macro";'],
    ["src/a.js", 'import preval from "preval.macro";'],
    ["src/a.js", "// @preval"],
    ["src/a.pyx", "# distutils: extra_compile_args = -fplugin=./x.so"],
    ["src/a.c", "__attribute__((__constructor__)) void f(void);"],
    ["src/a.c", "__attribute((constructor)) void f(void);"],
    ["src/a.cpp", "[[gnu::constructor]] void f();"],
    ["src/a.c", '__attribute__((section(".init_array"))) void *p;'],
    ["src/a.c", '_Pragma("comment(lib, x)")'],
    ["src/a.c", '%:include "/etc/x"'],
    ["src/a.c", '#include "../../../../etc/x"'],
    ["src/a.c", 'asm(".section .init_array");'],
    ["src/a.groovy", "@groovy.transform.ASTTest(value={ x() })"],
    ["src/a.scala", "inline def f = ${ impl }"],
    ["src/a.ml", '#require "x";;'],
    ["src/a.rs", 'include /* */ ! /* */ ("x.rs");'],
    ["src/a.rs", "include!"],
    ["src/a.rs", '#[/* */path = "x.rs"] mod y;'],
    ["docs/a.txt", "vim>702:fde=system('x')"],
    ["src/a.c", "/* Vim: set foldtext=system('x'): */"],
    ["src/a.c", "/* vim: set tags+=./x: */"],
    ["test/fixtures/a.yml", "name: <%= system('x') %>"],
    ["test/fixtures/a.csv", "x,=cmd|'/c calc'!A0"],
    ["data/a.csv", '=HYPERLINK("http://x.test","y")'],
    ["docs/test_a.txt", ">>> run()"],
    ["src/a.html", '<!--#exec cmd="x" -->'],
    ["docs/a.md", "```{r}"],
    ["docs/a.md", "```{python, echo=FALSE}"],
    ["docs/a.rst", ".. include:: ../../../../etc/x"],
  ])("%s: %s", async (path, line) => {
    expect(await kindsOf(path, "first\n", `${line}\nfirst\n`)).toEqual(["code_directive"]);
    expect(await kindsOf(path, `${line}\n`, `${line}\nmore\n`)).toEqual([]);
  });

  it.each([
    ["styles/a.css", '@import "x.css"; /* @plugin */'],
    ["styles/a.scss", "@include breakpoint($config) { x: y }"],
    ["src/a.js", 'throw new Error("never!"); import("./y.js");'],
    ["src/a.js", 'import { macro } from "./macros/index.js";'],
    ["src/a.js", "import x from './x'; alert('done!');"],
    ["src/a.py", "# distutils is gone"],
    ["src/a.c", "__attribute__((packed)) struct s;"],
    ["src/a.c", '#include "../../x.h"'],
    ["src/a.c", "#pragma once"],
    ["src/a.ml", "let x = obj#require"],
    ["src/a.rs", "/* include */ let x = 1;"],
    ["docs/a.txt", "vim: set ts=4 sw=4:"],
    ["fixtures/a.csv", "a,-1,+2,=,x"],
    ["fixtures/a.csv", "a,-1.5e3,2|3"],
    ["fixtures/a.json", '{"x": "<b>"}'],
    ["docs/a.txt", ">>> run()"],
    ["src/a.html", "<!-- # exec -->"],
    ["docs/a.md", "```python"],
  ])("%s: %s is none", async (path, line) => {
    expect(await kindsOf(path, "first\n", `first\n${line}\n`)).toEqual([]);
  });
});

describe("files that are text by their kind", () => {
  it.each(["docs/a.svg", "src/__snapshots__/a.snap", "data/a.csv", "src/a.js"])(
    "%s with a zero byte, or in an encoding that has some, is hidden text",
    async (path) => {
      const found = await find([{ path, text: "\ufeff<\0s\0v\0g", isBinary: true }]);
      expect(found.map(({ kind }) => kind)).toContain("hidden_text");
    },
  );

  it.each(["docs/a.png", "src/locales/de.mo", "docs/a.pdf"])("%s is none", async (path) => {
    expect(await find([{ path, text: "\0", isBinary: true }])).toEqual([]);
  });
});
