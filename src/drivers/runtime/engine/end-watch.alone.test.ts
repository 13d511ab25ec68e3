import { PassThrough } from "node:stream";
import type Docker from "dockerode";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RuntimeStatus } from "../../../ports/runtime.ts";
import { EndWatch } from "./end-watch.ts";

const id = "c0ffee";
const die = `${JSON.stringify({ Action: "die", Actor: { ID: id, Attributes: { "agentbox.box": "a-box" } } })}\n`;
let streams: PassThrough[];
let isAway: boolean;
let told: RuntimeStatus[];
let watch: EndWatch;

/** An engine whose only container has ended. */
const away = () => Promise.reject(new Error("the engine is away"));
const client = {
  getEvents: () => {
    if (isAway) return away();
    const stream = new PassThrough();
    streams.push(stream);
    return Promise.resolve(stream);
  },
} as unknown as Docker;

beforeEach(() => {
  vi.useFakeTimers();
  [streams, isAway, told] = [[], false, []];
  watch = new EndWatch({
    client,
    installation: { id: "0123456789ab", runtime: "docker" },
    isAlive: () => (isAway ? away() : Promise.resolve(false)),
    settle: (name) => (isAway ? away() : Promise.resolve({ name, phase: "stopped", exitCode: 7 })),
  });
  watch.listen((status) => told.push(status));
});
afterEach(() => {
  watch.close();
  vi.useRealTimers();
});

it("tells an end once, whoever noticed it first", async () => {
  watch.watch("a-box", id);
  await vi.advanceTimersByTimeAsync(0);
  streams[0]!.write(die);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([{ name: "a-box", phase: "stopped", exitCode: 7 }]);
});

it("does not lose an end when the engine goes away with the news half told", async () => {
  watch.watch("a-box", id);
  await vi.advanceTimersByTimeAsync(0);
  isAway = true;
  streams[0]!.write(die);
  streams[0]!.end();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(told).toEqual([{ name: "a-box", phase: "stopped", exitCode: 7 }]);
});

it("opens the stream again after it broke", async () => {
  watch.watch("a-box", "another");
  await vi.advanceTimersByTimeAsync(0);
  expect(streams).toHaveLength(1);
  isAway = true;
  streams[0]!.destroy();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(streams).toHaveLength(1);
  isAway = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(streams).toHaveLength(2);
});
