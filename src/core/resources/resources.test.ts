import { expect, it } from "vitest";
import type { Clock } from "../../base/clock.ts";
import type { Box } from "../../contract/box.ts";
import type { RuntimeUsage } from "../../ports/runtime.ts";
import { type ResourceContext, Resources } from "./resources.ts";

/** Time passes only when a test says so. */
class StepClock implements Clock {
  ms = 1_000;
  readonly timers: { atMs: number; callback: () => void }[] = [];
  nowMs = (): number => this.ms;
  monotonicMs = (): number => this.ms;
  after = (ms: number, callback: () => void): (() => void) => {
    this.timers.push({ atMs: this.ms + ms, callback });
    return () => undefined;
  };
  step(ms: number): void {
    this.ms += ms;
    const due = this.timers.filter(({ atMs }) => atMs <= this.ms);
    for (const timer of due) this.timers.splice(this.timers.indexOf(timer), 1);
    for (const { callback } of due) callback();
  }
}

function ground(count = 1) {
  const clock = new StepClock();
  const usage = { cpuMs: 0, memoryBytes: 1024, processes: 2 };
  const boxes = Array.from(
    { length: count },
    (_, id) =>
      ({
        name: `box-${id}`,
        incarnation: `i${id}`,
        spec: { runtime: "memory", resources: { memoryBytes: 4096, cpus: 2, required: [] } },
      }) as unknown as Box,
  );
  const live = new Map(boxes.map(({ name, incarnation }) => [name, { incarnation }]));
  const state = { asked: 0, atOnce: 0, mostAtOnce: 0, isBroken: false, disk: 0, tookMs: 0 };
  const tasks: Promise<unknown>[] = [];
  const core: ResourceContext = {
    live,
    ports: {
      clock,
      store: { listBoxes: async () => boxes },
      storage: { usage: async () => ((state.disk += 1), 777) },
      runtimes: {
        get: async () =>
          ({
            async usage(): Promise<RuntimeUsage> {
              state.asked += 1;
              state.atOnce += 1;
              state.mostAtOnce = Math.max(state.mostAtOnce, state.atOnce);
              await Promise.resolve();
              clock.ms += state.tookMs;
              state.atOnce -= 1;
              if (state.isBroken) throw new TypeError("away");
              return { ...usage };
            },
          }) as never,
      },
    },
    background: (_what, task) => void tasks.push(task),
  };
  const settle = async () => {
    while (tasks.length > 0) await tasks.pop();
  };
  return { clock, usage, boxes, live, state, core, settle, resources: new Resources(core) };
}

it("counts processor time between two samples, and never below nothing", async () => {
  const { clock, usage, boxes, resources, settle } = ground();
  expect(resources.sparks(boxes[0]!)).toBeUndefined();
  resources.asked();
  await settle();
  usage.cpuMs = 6_000;
  clock.step(4_000);
  await settle();
  usage.cpuMs = 100;
  clock.step(4_000);
  await settle();
  expect(resources.sparks(boxes[0]!)).toEqual({ cpu: [0, 150, 0], memory: [1024, 1024, 1024] });
});

it("rests when nobody has asked for a while, and begins again with the next question", async () => {
  const { clock, state, resources, settle } = ground();
  resources.asked();
  await settle();
  for (let round = 0; round < 20; round += 1) {
    clock.step(4_000);
    await settle();
  }
  const { asked } = state;
  expect(asked).toBeLessThan(10);
  expect(clock.timers).toHaveLength(0);
  resources.asked();
  await settle();
  expect(state.asked).toBe(asked + 1);
});

it("measures a few boxes at a time, and pauses for longer when that takes long", async () => {
  const { clock, state, resources, settle } = ground(50);
  state.tookMs = 100;
  resources.asked();
  await settle();
  expect(state.asked).toBe(50);
  expect(state.mostAtOnce).toBeLessThanOrEqual(4);
  expect(clock.timers[0]!.atMs - clock.ms).toBe(5_000 * 9);
});

it("keeps a bounded number of samples", async () => {
  const { clock, boxes, resources, settle } = ground();
  for (let round = 0; round < 200; round += 1) {
    resources.asked();
    clock.step(4_000);
    await settle();
  }
  expect((await resources.answer(boxes[0]!)).samples).toHaveLength(90);
  expect(resources.sparks(boxes[0]!)!.cpu).toHaveLength(20);
});

it("answers the first question at once, with the limits, and with the disk when that was counted", async () => {
  const { boxes, resources, settle, state, clock } = ground();
  const answer = await resources.answer(boxes[0]!);
  expect(answer).toMatchObject({ memoryLimitBytes: 4096, cpus: 2 });
  expect(answer.samples[0]).toMatchObject({ memoryBytes: 1024, processes: 2 });
  await settle();
  const again = await resources.answer(boxes[0]!);
  expect(again.samples.at(-1)!.diskBytes).toBe(777);
  clock.step(1_000);
  await resources.answer(boxes[0]!);
  expect(state.disk).toBe(1);
});

it("has no samples of a box that is down, of an earlier one of the name, or that cannot be measured", async () => {
  const { boxes, resources, settle, state, live, clock } = ground();
  resources.asked();
  await settle();
  expect(resources.sparks(boxes[0]!)).toBeDefined();
  expect(resources.sparks({ name: "box-0", incarnation: "other" })).toBeUndefined();
  state.isBroken = true;
  clock.step(4_000);
  await settle();
  expect(resources.sparks(boxes[0]!)!.cpu).toHaveLength(1);
  live.clear();
  expect(resources.sparks(boxes[0]!)).toBeUndefined();
  clock.step(4_000);
  await settle();
  expect((await resources.answer(boxes[0]!)).samples).toEqual([]);
});
