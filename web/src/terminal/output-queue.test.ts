import { expect, test, vi } from "vitest";
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

test("in a flood a write waits for more, but not for long; an echo never waits", () => {
  vi.useFakeTimers();
  const { log, queue, finishWrite } = ground();
  queue.push(new Uint8Array(20_000));
  finishWrite();
  queue.push(new Uint8Array(20_000));
  queue.push(new Uint8Array(300));
  expect(log).toEqual(["20000 bytes"]);
  vi.advanceTimersByTime(50);
  expect(log).toEqual(["20000 bytes", "20300 bytes"]);
  finishWrite();
  queue.push(new Uint8Array(1 << 18));
  expect(log.at(-1)).toBe("262144 bytes");
  finishWrite();
  vi.advanceTimersByTime(50);
  for (const text of ["a", "b"]) {
    queue.push(bytesOf(text));
    expect(log.at(-1)).toBe(text);
    finishWrite();
  }
  vi.useRealTimers();
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
