import { expect, test } from "vitest";
import { keyCount, sequenceOf, withCtrl } from "./key-sequences.ts";

test("the bar's keys send what a keyboard's would", () => {
  expect(sequenceOf("Esc", false)).toBe("\u001b");
  expect(sequenceOf("↑", false)).toBe("\u001b[A");
  expect(sequenceOf("←", true)).toBe("\u001bOD");
  expect(sequenceOf("|", false)).toBe("|");
  expect(sequenceOf("Ctrl", false)).toBeUndefined();
});

test("Ctrl makes control characters of letters and leaves sequences alone", () => {
  expect(withCtrl("c")).toBe("\u0003");
  expect(withCtrl("[")).toBe("\u001b");
  expect(withCtrl("é")).toBe("é");
  expect(withCtrl("\u001b[A")).toBe("\u001b[A");
});

test("keys are counted as a person counts them", () => {
  expect(keyCount("abc")).toBe(3);
  expect(keyCount("\u001b[A")).toBe(1);
  expect(keyCount("🦊")).toBe(1);
});
