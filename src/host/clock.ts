import { randomBytes } from "node:crypto";
import type { Clock, Ids } from "../base/clock.ts";

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(ms, callback) {
    // A timer longer than 24.8 days fires at once in Node, so longer waits are cut into pieces.
    const timer = setTimeout(callback, Math.min(ms, 2 ** 31 - 1));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export const systemIds: Ids = { random: () => randomBytes(16).toString("hex") };
