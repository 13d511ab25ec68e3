import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { readBounded } from "./read-bounded.ts";

it("reads what comes in pieces, and as bytes or text", async () => {
  const stream = Readable.from([Buffer.from([0xff, 0]), "ü"]);
  expect(await readBounded(stream, 4)).toEqual(Buffer.from([0xff, 0, 0xc3, 0xbc]));
  expect(await readBounded(Readable.from([]), 4)).toEqual(Buffer.alloc(0));
});

it("ends a stream that has more than it may", async () => {
  let isEnded = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(2);
    } finally {
      isEnded = true;
    }
  }
  expect(await readBounded(endless(), 5)).toBeUndefined();
  expect(isEnded).toBe(true);
});
