import { expect, test } from "vitest";
import { readChoice, shownBoxes } from "./grid-choice.ts";

test("without a choice the first few are shown; with one, what of it runs", () => {
  const running = ["a", "b", "c", "d", "e"];
  expect(shownBoxes(running, undefined)).toEqual(["a", "b", "c", "d"]);
  expect(shownBoxes(running, ["e", "gone", "a"])).toEqual(["e", "a"]);
  expect(shownBoxes(running, [])).toEqual([]);
});

test("what is kept may be anything", () => {
  expect(readChoice(null)).toBeUndefined();
  expect(readChoice("{")).toBeUndefined();
  expect(readChoice('{"a":1}')).toBeUndefined();
  expect(readChoice('["a",2,"b"]')).toEqual(["a", "b"]);
});
