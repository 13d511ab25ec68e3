import { describe, expect, it } from "vitest";
import { rank } from "./rank.ts";

const found = (text: string) =>
  rank(["team-app-web", "app", "web-app", "shop", "appendix"], text, (name) => name);

describe("the palette's order", () => {
  it("nothing typed: everything as it was", () => expect(found("")).toHaveLength(5));
  it("the start comes first, then the start of a word, then letters in order", () => {
    expect(found("app")).toEqual(["app", "appendix", "web-app", "team-app-web"]);
    expect(found("taw")).toEqual(["team-app-web"]);
    expect(found("xyz")).toEqual([]);
  });
});

describe("several words", () => {
  const boxes = [
    { name: "shop-api-search", task: "Fix the slow search" },
    { name: "api-docs", task: "Write the docs" },
    { name: "shop-web-fix-api", task: "Make it green" },
  ];
  const named = (text: string) =>
    rank(
      boxes,
      text,
      ({ name }) => name,
      ({ task }) => task,
    ).map(({ name }) => name);

  it("fit in any order, in the name before the task", () => {
    expect(named("api fix")).toEqual(["shop-web-fix-api", "shop-api-search"]);
    expect(named("fix api")).toEqual(["shop-web-fix-api", "shop-api-search"]);
    expect(named("docs wri")).toEqual(["api-docs"]);
  });
  it("must all fit, and letters strewn over a task do not", () => {
    expect(named("api nothing")).toEqual([]);
    expect(named("fsss")).toEqual([]);
  });
});
