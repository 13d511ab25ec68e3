import { expect, test } from "vitest";
import { OutputQueue } from "./output-queue.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function ground() {
  const log: string[] = [];
  const waiting: (() => void)[] = [];
  const queue = new OutputQueue({
    write(bytes, written) {
      log.push(bytes.length < 100 ? new TextDecoder().decode(bytes) : `${bytes.length} bytes`);
      waiting.push(written);
    },
    pause: () => log.push("pause"),
    resume: () => log.push("resume"),
  });
  return { log, queue, finishWrite: () => waiting.shift()?.() };
}

test("the first bytes are written at once, what comes meanwhile in one piece", () => {
  const { log, queue, finishWrite } = ground();
  for (const text of ["a", "b", "c"]) queue.push(bytesOf(text));
  expect(log).toEqual(["a"]);
  finishWrite();
  expect(log).toEqual(["a", "bc"]);
});

test("an act keeps its place between the bytes", () => {
  const { log, queue, finishWrite } = ground();
  queue.push(bytesOf("a"));
  queue.push(bytesOf("b"));
  queue.act(() => log.push("act"));
  queue.push(bytesOf("c"));
  finishWrite();
  expect(log).toEqual(["a", "b"]);
  finishWrite();
  expect(log).toEqual(["a", "b", "act", "c"]);
});

test("a sender that is too fast is held back until the terminal has caught up", () => {
  const { log, queue, finishWrite } = ground();
  for (let piece = 0; piece < 12; piece += 1) queue.push(new Uint8Array(256 * 1024));
  expect(log.filter((entry) => entry === "pause")).toHaveLength(1);
  for (let piece = 0; piece < 12; piece += 1) finishWrite();
  expect(log.filter((entry) => entry === "resume")).toHaveLength(1);
  expect(log.filter((entry) => entry === "262144 bytes")).toHaveLength(12);
});

test("what belongs to a lost connection is not written", () => {
  const { log, queue, finishWrite } = ground();
  queue.push(bytesOf("a"));
  queue.push(bytesOf("old"));
  queue.clear();
  queue.push(bytesOf("new"));
  finishWrite();
  expect(log).toEqual(["a", "new"]);
});
