import { expect, it } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it("gives whole lines, wherever the chunks are cut", () => {
  const lines = new LineSplitter(100);
  const text = bytes("één\ntwo\n\nthree");
  const found = [...text].flatMap((byte) => lines.push(Uint8Array.of(byte)));
  expect(found).toEqual(["één", "two", ""]);
  expect(lines.push(bytes("!\nfour\n"))).toEqual(["three!", "four"]);
});

it("drops a line that is too long and goes on after it", () => {
  const lines = new LineSplitter(8);
  expect(lines.push(bytes("0123456"))).toEqual([]);
  expect(lines.push(bytes("789 and more\nok\n"))).toEqual(["ok"]);
});
