import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linkRoutes, maxRoutes } from "./link-routes.ts";

const routes = (links: Readonly<Record<string, string>>, changed: readonly string[] = []) => {
  const all = Object.entries(links).map(([path, target]) => ({
    path,
    target,
    isChanged: changed.includes(path),
  }));
  const found = linkRoutes(all);
  return {
    ...found,
    ends: Object.fromEntries(found.routes.map(({ path, leads }) => [path, leads])),
    fresh: found.routes.filter((route) => route.changed.length > 0).map(({ path }) => path),
  };
};

describe("where links lead", () => {
  it.each<[string, Record<string, string>, Record<string, string>]>([
    ["a directory", { ".vscode": "docs/x" }, { ".vscode": "docs/x" }],
    ["from where it is", { "a/b/l": "../c" }, { "a/b/l": "a/c" }],
    ["a link", { one: "two", two: "docs/x" }, { one: "docs/x", two: "docs/x" }],
    ["below a link", { one: "two/y", two: "docs" }, { one: "docs/y", two: "docs" }],
    ["above what a link leads to", { one: "two/../z", two: "docs/x" }, { one: "docs/z", two: "docs/x" }],
    ["another case", { ".VSCODE": "Docs/X", docs: "src" }, { ".VSCODE": "src/x", docs: "src" }],
    [
      "nested",
      { ".github": "d", "d/workflows": "../w" },
      { ".github": "d", "d/workflows": "w", ".github/workflows": "w" },
    ],
    ["its parent, once", { "a/up": ".." }, { "a/up": "" }],
    ["nowhere", { one: "two", two: "one", out: "../x", abs: "/etc", win: "C:\\x" }, {}],
  ])("%s", (_, links, expected) => {
    expect(routes(links).ends).toEqual(expected);
  });

  it("says which ways are new: also an old link to a new one", () => {
    const links = { old: "mid", mid: "docs", other: "docs" };
    expect(routes(links, ["mid"]).fresh.toSorted()).toEqual(["mid", "old"]);
    expect(routes(links).fresh).toEqual([]);
  });

  it("names changed links that lead away", () => {
    expect(routes({ up: "..", "a/in": "../up/x" }, ["a/in"]).lost.map(({ path }) => path)).toEqual(["a/in"]);
    expect(routes({ up: ".." }).lost).toEqual([]);
  });

  it("stays within its bounds whatever the links are, and says when it left something out", () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`d${at}/up`, ".."]));
    const found = routes(many, ["d0/up"]);
    expect(found.routes).toHaveLength(maxRoutes);
    expect(found.isCut).toBe(true);
    expect(found.ends["d0/up"]).toBe("");
    const part = fc.constantFrom("a", "b", "A", "..", ".", "", "l");
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(fc.dictionary(path, path, { maxKeys: 12 }), (links) => {
        expect(routes(links).routes.length).toBeLessThanOrEqual(maxRoutes);
      }),
      { numRuns: 300 },
    );
  });
});
