import { beforeEach, expect, it } from "vitest";
import { SharedRate, TokenBucket } from "./rate.ts";

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
});
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => undefined };

it("gives a burst, then so many a second", () => {
  const bucket = new TokenBucket(10, 5, clock);
  const takeAll = (): number => {
    let taken = 0;
    while (bucket.take()) taken += 1;
    return taken;
  };
  expect(takeAll()).toBe(5);
  nowMs += 300;
  expect(takeAll()).toBe(3);
  nowMs += 3_600_000;
  expect(takeAll()).toBe(5);
});

it("says how long a debt takes, and what is spent meanwhile comes on top", () => {
  const bucket = new TokenBucket(10, 5, clock);
  expect(bucket.spend(5)).toBe(0);
  expect(bucket.spend(10)).toBe(1_000);
  expect(bucket.spend(10)).toBe(2_000);
  nowMs += 2_000;
  expect(bucket.spend(0)).toBe(0);
});

/** How many each of them gets in ten seconds when all take as fast as they may. */
function shares(count: number, price = 1): number[] {
  nowMs = 0;
  const rate = new SharedRate({ own: { perSecond: 10, burst: 10 }, alone: 1_000, together: 100 }, clock);
  const all = Array.from({ length: count }, () => ({ share: rate.open(), freeMs: 0, got: 0 }));
  for (; nowMs < 10_000; nowMs += 1)
    for (const one of all)
      for (let n = 0; n < 5 && nowMs >= one.freeMs; n += 1) {
        one.freeMs = nowMs + one.share.spend(price);
        one.got += 1;
      }
  return all.map(({ got }) => got);
}

it("lets one busy box have what is idle, and many no more together than can be borne", () => {
  const [alone] = shares(1);
  expect(alone).toBeGreaterThan(9_000);
  // Also where one thing costs more than one: as long as there is enough, no one waits.
  expect(shares(1, 3)[0]).toBeGreaterThan(3_000);
  const together = shares(20);
  expect(together.reduce((sum, got) => sum + got, 0)).toBeLessThan(20 * 120 + 2_500);
  expect(Math.min(...together)).toBeGreaterThanOrEqual(90);
});
