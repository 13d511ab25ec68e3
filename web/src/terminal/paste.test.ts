import { expect, test } from "vitest";
import { preparePaste } from "./paste.ts";

test("plain text is pasted as it is", () => {
  expect(preparePaste("echo ☃\thello", false)).toEqual({ text: "echo ☃\thello", warning: undefined });
  expect(preparePaste("one\ntwo", true)).toEqual({ text: "one\ntwo", warning: undefined });
});

test("lines and control characters are shown first where nothing marks a paste", () => {
  expect(preparePaste("rm -rf x\n", false).warning).toBe("lines");
  expect(preparePaste("a\rb", false).warning).toBe("lines");
  expect(preparePaste("a\u0003b", false)).toEqual({ text: "a\u0003b", warning: "controls" });
});

test("nothing in a paste can end it", () => {
  for (const mark of ["\u001b[201~", "\u009b201~", "\u001b[200~", "\u001b[20\u001b[201~1~"]) {
    const { text } = preparePaste(`a${mark}b`, true);
    expect(text).toBe("ab");
  }
  expect(preparePaste("a\u001b[31mb\u0004", true).text).toBe("a[31mb");
});
