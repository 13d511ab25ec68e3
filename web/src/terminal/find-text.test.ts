import { expect, test } from "vitest";
import { findText } from "./find-text.ts";

const lines = ["alpha beta", "gamma", "Beta alpha alpha"];
const find = (wanted: string, row: number, column: number, isUpwards: boolean) =>
  findText(lines.length, (index) => lines[index]!, wanted, { from: { row, column }, isUpwards });

test("goes upwards from the end, place by place, and around", () => {
  expect(find("alpha", 2, 99, true)).toEqual({ row: 2, column: 11 });
  expect(find("alpha", 2, 11, true)).toEqual({ row: 2, column: 5 });
  expect(find("alpha", 2, 5, true)).toEqual({ row: 0, column: 0 });
  expect(find("alpha", 0, 0, true)).toEqual({ row: 2, column: 11 });
});

test("goes downwards too", () => {
  expect(find("alpha", 0, 0, false)).toEqual({ row: 2, column: 5 });
  expect(find("gamma", 1, 0, false)).toEqual({ row: 1, column: 0 });
});

test("capitals count when somebody writes them", () => {
  expect(find("beta", 2, 99, true)).toEqual({ row: 2, column: 0 });
  expect(find("Beta", 0, 0, false)).toEqual({ row: 2, column: 0 });
  expect(find("BETA", 0, 0, false)).toBeUndefined();
  expect(find("", 0, 0, false)).toBeUndefined();
});
