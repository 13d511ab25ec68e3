import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCodes } from "../src/base/error-codes.ts";
import { listRepositoryFiles, readSources, repository } from "./support/source-files.ts";

const sources = [...readSources("src"), ...readSources("web")];
const program = sources.filter(({ path }) => !/\.test\.tsx?$/.test(path));
const maxLines = 400;

/** Where code goes that has no home yet, and where rot starts. */
const homelessName = /(^|[-_.])(utils?|helpers?|managers?|common|misc)([-_.]|$)/;
/** `...(x === undefined ? {} : { x })`, which `omitUndefined({ x })` of src/base says in one way. */
const handWrittenOmission =
  /\.\.\.\(\s*([\w.#[\]]+) === undefined\s*\?\s*\{\}\s*:\s*\{\s*(?:\w+:\s*)?\1\s*,?\s*\}\s*\)/;
const hasHeader = (text: string) => /^(#!.*\n)?\s*(\/\*\*|\/\/)/.test(text);

describe("style of the sources", () => {
  it("no file is called utils, helpers, manager or common", () => {
    const isHomeless = (path: string) => homelessName.test(basename(path));
    expect(["x/utils.ts", "x/box-manager.ts", "x/common.mjs"].filter(isHomeless)).toHaveLength(3);
    const own = listRepositoryFiles().filter((path) => /^(src|web|test|scripts|bench)\//.test(path));
    expect(own.length).toBeGreaterThan(30);
    expect(own.filter(isHomeless)).toEqual([]);
  });

  it(`no file is longer than ${maxLines} lines`, () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
    expect(long.filter(({ lines }) => lines > maxLines)).toEqual([]);
  });

  it("fields without a value are left out by omitUndefined alone", () => {
    const isHandWritten = (text: string) => handWrittenOmission.test(text.replaceAll("?.", "."));
    const planted = ["{ x }", "{ y: x }", "{\n  x,\n}"].map(
      (field) => `{ ...(x === undefined ? {} : ${field}) }`,
    );
    expect(planted.filter(isHandWritten)).toEqual(planted);
    expect(isHandWritten("{ ...(a?.b === undefined ? {} : { b: a.b }) }")).toBe(true);
    expect(isHandWritten("{ ...(x === undefined ? {} : { x: parse(x) }) }")).toBe(false);
    const all = [...sources, ...readSources("test"), ...readSources("bench")];
    const own = all.filter(({ path }) => path !== "test/style.test.ts");
    expect(own.filter(({ text }) => isHandWritten(text)).map(({ path }) => path)).toEqual([]);
  });

  it("ports, services and drivers say in a header what they guarantee", () => {
    expect(hasHeader("import x;\n/** late */")).toBe(false);
    const layered = program.filter(({ path }) => /^src\/(ports|services|drivers)\//.test(path));
    expect(layered.length).toBeGreaterThan(4);
    expect(layered.filter(({ text }) => !hasHeader(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe("style of the error codes", () => {
  const codes = Object.keys(errorCodes);

  it("every code is used outside the table", () => {
    const rest = program.filter(({ path }) => path !== "src/base/error-codes.ts");
    const text = rest.map((file) => file.text).join("\n");
    expect(codes.filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });

  it("every code is documented", () => {
    const page = readFileSync(join(repository, "docs/reference/errors.md"), "utf8");
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });
});

describe("style of the repository", () => {
  const registries = ["npmjs", "yarnpkg", "pypi"].map(
    (name) => new RegExp(`registry\\.${name}\\.|//${name}\\.(org|com)`),
  );
  const anyRegistry = /https?:\/\/[^\s"'/]*(registry|artifactory|nexus|verdaccio)[^\s"']*/;
  // The paths of this checkout and its owner; a path of one segment could as well be an example.
  const roots = [repository, homedir()].filter((root) => root.split("/").length > 2);

  const isTainted = (text: string) =>
    roots.some((root) => text.includes(root)) ||
    [...registries, anyRegistry].some((pattern) => pattern.test(text));

  it("holds no path of a machine and no address of a package registry", () => {
    // In pieces, because this file is looked at too.
    expect(isTainted(["https:", "", ["registry", "npmjs", "org"].join("."), "zod"].join("/"))).toBe(true);
    expect(isTainted(`see ${repository}/x`)).toBe(roots.includes(repository));
    expect(isTainted("an OCI registry is named in the manifest")).toBe(false);
    const tainted = listRepositoryFiles().filter((path) => {
      const full = join(repository, path);
      const stat = statSync(full, { throwIfNoEntry: false });
      return stat?.isFile() && stat.size < 4 << 20 && isTainted(readFileSync(full, "utf8"));
    });
    expect(tainted).toEqual([]);
  });
});
