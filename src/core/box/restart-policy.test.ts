import { describe, expect, it } from "vitest";
import { decideRestart } from "./restart-policy.ts";

const end = { exitCode: 1, isDeath: false, nowMs: 10_000 };
const fresh = { restarts: 0, startedAtMs: 9_000 };

describe("the restart policy", () => {
  it("never brings a box back on `no`", () => {
    expect(decideRestart(fresh, "no", end)).toEqual({ action: "stop", reason: "finished" });
    expect(decideRestart(fresh, "no", { ...end, isDeath: true })).toEqual({ action: "stop", reason: "died" });
  });

  it("tells success from failure on `on-failure`", () => {
    expect(decideRestart(fresh, "on-failure", { ...end, exitCode: 0 })).toMatchObject({ action: "stop" });
    expect(decideRestart(fresh, "on-failure", end)).toMatchObject({ action: "restart", restarts: 1 });
    expect(decideRestart(fresh, "on-failure", { ...end, exitCode: undefined, isDeath: true })).toMatchObject({
      action: "restart",
    });
  });

  it("waits longer each time and gives up in the end", () => {
    const delays = [0, 1, 2, 3, 4].map((restarts) => decideRestart({ ...fresh, restarts }, "always", end));
    const waits = delays.map((decision) => (decision.action === "restart" ? decision.afterMs : -1));
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(waits[0]).toBeGreaterThan(0);
    expect(decideRestart({ ...fresh, restarts: 5 }, "always", end)).toEqual({
      action: "stop",
      reason: "restart_limit",
    });
  });

  it("counts anew after a healthy run", () => {
    const long = { restarts: 5, startedAtMs: 0 };
    expect(decideRestart(long, "always", { ...end, nowMs: 100_000 })).toMatchObject({
      action: "restart",
      restarts: 1,
    });
  });
});
