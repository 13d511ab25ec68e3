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
