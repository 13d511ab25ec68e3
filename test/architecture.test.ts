import { describe, expect, it } from "vitest";
import { judge, judgeWeb, layers, loadedPackages, readFacts, valueCycles } from "./support/layer-rules.ts";
import { findParts } from "./support/small-files.ts";
import { type SourceFile, readSources } from "./support/source-files.ts";

const sources = readSources("src");
const byPath = new Map(sources.map((file) => [file.path, file]));
const file = (path: string, text: string): SourceFile => ({ path, text });

describe("architecture", () => {
  it("finds the sources", () => {
    expect(sources.length).toBeGreaterThan(30);
    expect(sources.flatMap((one) => readFacts(one).imports).length).toBeGreaterThan(50);
  });

  it("keeps every import within the layer table", () => {
    expect(sources.flatMap(judge)).toEqual([]);
  });

  it("has no files that import one another in a circle", () => {
    const program = [...sources, ...readSources("web")].filter(({ path }) => !/\.test\.tsx?$/.test(path));
    expect(valueCycles(program)).toEqual([]);
  });

  it("keeps zod out of what boxd loads", () => {
    const boxd = sources.filter(({ path }) => path.startsWith("src/boxd/") && !path.endsWith(".test.ts"));
    for (const { path } of boxd)
      expect(loadedPackages(path, byPath).get("zod"), `${path} loads zod through`).toBeUndefined();
  });

  it("keeps zod out of what the CLI loads before it knows the command, and to run one in a box", () => {
    for (const entry of ["src/main/index.ts", "src/cli/index.ts", "src/cli/commands/run.ts"]) {
      expect(loadedPackages(entry, byPath).get("zod"), `${entry} loads zod through`).toBeUndefined();
    }
  });
});

describe("architecture of the dashboard", () => {
  const pages = readSources("web");

  it("knows base, contract, manifest and client only, and makes no markup from text", () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap(judgeWeb)).toEqual([]);
  });

  it("loads no zod, which makes functions from text and weighs as much as all the rest", () => {
    const known = new Map([...sources, ...pages].map((one) => [one.path, one]));
    const own = pages.filter(({ path }) => !path.includes(".test."));
    const loads = own.map(({ path }) => ({ path, through: loadedPackages(path, known).get("zod") }));
    expect(loads.filter(({ through }) => through !== undefined)).toEqual([]);
    expect(loadedPackages("src/contract/review/merge.ts", known).has("zod")).toBe(true);
  });

  const inPage = (text: string) => judgeWeb(file("web/src/box/x.tsx", text)).join("\n");
  it.each([
    [`import "../../../src/core/x.ts";`, `import "../../../src/base/errors.ts";`, /may not import src\/core/],
    [`import "node:fs";`, `import "react";`, /runs in a browser/],
    [`import "../../../src/client/index.ts";`, `import "../../../src/client/client.ts";`, /client\.ts runs/],
    [`x.innerHTML = name;`, `x.textContent = name;`, /makes markup/],
    [`<p dangerouslySetInnerHTML={x} />;`, `<p>{x}</p>;`, /makes markup/],
    [`eval(text);`, `evaluate(text);`, /makes markup/],
    [`await import(name);`, `await import("./y.tsx");`, /computed name/],
  ])("a planted violation is reported: %s", (bad, good, says) => {
    expect(inPage(good)).toBe("");
    expect(inPage(bad)).toMatch(says);
  });
});

/** One planted violation for each rule, beside the nearest thing that is allowed. */
const planted: readonly { rule: string; bad: SourceFile; good: SourceFile; says: RegExp }[] = [
  {
    rule: "a static import against the table",
    bad: file("src/core/create-box.ts", `import { run } from "../host/run.ts"; run();`),
    good: file("src/core/create-box.ts", `import { Mutex } from "../base/mutex.ts"; new Mutex();`),
    says: /core, which may not import host/,
  },
  {
    rule: "files of the box's side in a pure layer",
    bad: file(
      "src/core/x.ts",
      `import { SafeDirectory } from "../safe-path/safe-directory.ts"; SafeDirectory;`,
    ),
    good: file(
      "src/boxd/x.ts",
      `import { SafeDirectory } from "../safe-path/safe-directory.ts"; SafeDirectory;`,
    ),
    says: /core, which may not import safe-path/,
  },
  {
    rule: "a type-only import against the table",
    bad: file("src/base/x.ts", `import type { Box } from "../contract/box.ts"; export type X = Box;`),
    good: file("src/base/x.ts", `import type { Clock } from "./clock.ts"; export type X = Clock;`),
    says: /base, which may not import contract/,
  },
  {
    rule: "an import() type against the table",
    bad: file("src/base/x.ts", `export type X = import("../contract/box.ts").Box;`),
    good: file("src/base/x.ts", `export type X = import("./clock.ts").Clock;`),
    says: /base, which may not import contract/,
  },
  {
    rule: "a dynamic import against the table",
    bad: file("src/cli/x.ts", `await import("../drivers/store/sqlite/index.ts");`),
    good: file("src/cli/x.ts", `await import("../client/index.ts");`),
    says: /cli, which may not import drivers/,
  },
  {
    rule: "a re-export against the table",
    bad: file("src/ports/x.ts", `export * from "../host/run.ts";`),
    good: file("src/ports/x.ts", `export * from "../contract/box.ts";`),
    says: /ports, which may not import host/,
  },
  {
    rule: "a named re-export against the table",
    bad: file("src/client/x.ts", `export { run } from "../host/run.ts";`),
    good: file("src/client/x.ts", `export { Box } from "../contract/box.ts";`),
    says: /client, which may not import host/,
  },
  {
    rule: "a computed import",
    bad: file("src/main/x.ts", "await import(`../drivers/${name}.ts`);"),
    good: file("src/main/x.ts", `await import("../drivers/store/sqlite/index.ts");`),
    says: /computed name/,
  },
  {
    rule: "an import from outside src",
    bad: file("src/daemon/x.ts", `import "../../test/support/x.ts";`),
    good: file("src/daemon/x.ts", `import "../core/x.ts";`),
    says: /outside src/,
  },
  {
    rule: "a folder that is no layer",
    bad: file("src/shared/x.ts", "export const x = 1;"),
    good: file("src/base/x.ts", "export const x = 1;"),
    says: /no layer/,
  },
  {
    rule: "a driver that imports another",
    bad: file("src/drivers/runtime/docker/index.ts", `import "../bubblewrap/argv.ts";`),
    good: file("src/drivers/runtime/docker/index.ts", `import "./argv.ts"; import "../limits.ts";`),
    says: /imports another driver/,
  },
  {
    rule: "a service that reaches into another",
    bad: file("src/services/gate/x.ts", `import "../vault/seal.ts";`),
    good: file("src/services/gate/x.ts", `import "../vault/index.ts"; import "./y.ts";`),
    says: /past its index/,
  },
  {
    rule: "a caller that reaches into a service",
    bad: file("src/daemon/x.ts", `import "../services/terminal/screen.ts";`),
    good: file("src/daemon/x.ts", `import "../services/terminal/index.ts";`),
    says: /past its index/,
  },
  {
    rule: "a Node built-in in contract",
    bad: file("src/contract/x.ts", `import { readFile } from "node:fs"; readFile;`),
    good: file("src/contract/x.ts", `import { z } from "zod"; z;`),
    says: /runs in a browser/,
  },
  {
    rule: "a package in base",
    bad: file("src/base/x.ts", `import { z } from "zod"; z;`),
    good: file("src/base/x.ts", `import "./clock.ts";`),
    says: /depends on nothing/,
  },
  {
    rule: "zod at run time in boxd",
    bad: file("src/boxd/x.ts", `import { z } from "zod"; z;`),
    good: file("src/boxd/x.ts", `import type { z } from "zod"; export type X = z.ZodType;`),
    says: /boxd and imports zod/,
  },
  {
    rule: "zod statically in cli",
    bad: file("src/cli/x.ts", `import { z } from "zod"; z;`),
    good: file("src/cli/x.ts", `const { z } = await import("zod"); z;`),
    says: /cli and imports zod/,
  },
  {
    rule: "process.env outside host/env.ts",
    bad: file("src/daemon/x.ts", `export const x = process.env["HOME"];`),
    good: file("src/host/env.ts", `export const x = process.env["HOME"];`),
    says: /reads process\.env/,
  },
  {
    rule: "process.exit outside main",
    bad: file("src/cli/x.ts", "process.exit(1);"),
    good: file("src/main/x.ts", "process.exit(1); process.exitCode = 1;"),
    says: /calls process\.exit/,
  },
  {
    rule: "a use case that takes the whole of core",
    bad: file("src/core/x.ts", `import { type Core, noSuchBox } from "./context.ts"; noSuchBox("x");`),
    good: file("src/core/x.ts", `import type { Using } from "./using.ts"; export type X = Using<"store">;`),
    says: /takes the whole of Core/,
  },
  {
    rule: "a part of the daemon that takes the whole of core",
    bad: file("src/daemon/x.ts", `import type { Core } from "../core/context.ts"; export type X = Core;`),
    good: file("src/main/x.ts", `import type { Core } from "../core/context.ts"; export type X = Core;`),
    says: /takes the whole of Core/,
  },
  {
    rule: "a bare Error",
    bad: file("src/core/x.ts", `throw new Error("no");`),
    good: file("src/core/x.ts", `throw new AgentBoxError("box.not_found", "There is none.");`),
    says: /bare Error/,
  },
];

describe("architecture: a planted violation is reported", () => {
  it.each(planted)("$rule", ({ bad, good, says }) => {
    expect(judge(good)).toEqual([]);
    expect(judge(bad).join("\n")).toMatch(says);
  });

  it("every folder of src is in the table", () => {
    const folders = new Set(sources.map(({ path }) => path.split("/")[1] ?? ""));
    expect([...folders].filter((folder) => !(folder in layers))).toEqual([]);
  });

  it("a circle of imports is found, and none of types", () => {
    const circle = [
      file("src/core/a.ts", `import { b } from "./b.ts"; export const a = b;`),
      file("src/core/b.ts", `export { c as b } from "./deep/c.ts";`),
      file("src/core/deep/c.ts", `import { a } from "../a.ts"; export const c = () => a;`),
      file("src/core/d.ts", `import { a } from "./a.ts"; export const d = a;`),
    ];
    expect(valueCycles(circle)).toEqual([["src/core/a.ts", "src/core/b.ts", "src/core/deep/c.ts"]]);
    const typed = file("src/core/deep/c.ts", `import type { a } from "../a.ts"; export type C = typeof a;`);
    const later = file("src/core/deep/c.ts", `export const c = () => import("../a.ts");`);
    for (const one of [typed, later]) expect(valueCycles(circle.with(2, one))).toEqual([]);
  });

  it("zod behind a chain of imports is found", () => {
    const chain = new Map(
      [
        file("src/boxd/a.ts", `import { b } from "../contract/b.ts"; b;`),
        file("src/contract/b.ts", `import { z } from "zod"; export const b = z;`),
        file("src/boxd/c.ts", `import type { b } from "../contract/b.ts"; export type C = typeof b;`),
      ].map((one) => [one.path, one]),
    );
    expect(loadedPackages("src/boxd/a.ts", chain).get("zod")).toBe("src/contract/b.ts");
    expect(loadedPackages("src/boxd/c.ts", chain).get("zod")).toBeUndefined();
  });
});

describe("architecture: small files", () => {
  const all = [...sources, ...["web", "test", "bench"].flatMap((folder) => readSources(folder))];

  it("no file below forty lines has its only reader beside it", () => {
    expect(findParts(all).filter((finding) => /^(src|web\/src)\//.test(finding))).toEqual([]);
  });

  const one = file("src/core/a/one.ts", "import { b } from './part.ts'; export const one = b;");
  const part = file("src/core/a/part.ts", "export const b = 1;");

  it("a planted part is reported", () => {
    expect(findParts([one, part]).join("\n")).toMatch(
      /^src\/core\/a\/part\.ts .* part of src\/core\/a\/one\.ts/,
    );
  });

  it.each([
    ["has a second reader", [file("src/core/c.ts", `import { b } from "./a/part.ts"; b;`)], part],
    ["has a test of its own", [file("src/core/a/part.test.ts", `import { b } from "./part.ts"; b;`)], part],
    ["is only types", [], file(part.path, "export interface B { readonly x: number }")],
    ["is long", [], file(part.path, `export const b = 1;\n${"// why\n".repeat(40)}`)],
    [
      "is one of several of a kind",
      [file("src/core/a/other.ts", `import type { Kind } from "../kind.ts"; export const c: Kind = 2;`)],
      file(part.path, `import type { Kind } from "../kind.ts"; export const b: Kind = 1;`),
    ],
  ])("a small file stays that %s", (_, others, small) => {
    expect(findParts([one, small, ...others])).toEqual([]);
  });
});
