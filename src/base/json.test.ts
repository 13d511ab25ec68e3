import { expect, it } from "vitest";
import { parseJson, parseJsonObject } from "./json.ts";

it("reads JSON, and returns undefined for invalid text", () => {
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(parseJson("null")).toBe(null);
  for (const text of ["", "ghp_secret", '{"a":', "{a:1}"]) expect(parseJson(text)).toBeUndefined();
});

it("reads an object, and nothing else", () => {
  expect(parseJsonObject('{"a":1}')).toEqual({ a: 1 });
  for (const text of ["null", "[1]", '"a"', "1", "ghp_secret"]) expect(parseJsonObject(text)).toBeUndefined();
});
