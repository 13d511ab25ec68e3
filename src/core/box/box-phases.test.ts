import { describe, expect, it } from "vitest";
import { BoxState, type Box, type BoxPhase } from "../../contract/box.ts";
import { canFollow, moveTo, requirePhase } from "./box-phases.ts";

const phases = BoxState.options.map((option): BoxPhase => option.shape.phase.value);
const boxIn = (phase: BoxPhase): Box => ({ name: "a-box", state: { phase, sinceMs: 0 } }) as Box;

describe("the phases of a box", () => {
  it("lead from creating to removing", () => {
    expect(canFollow("creating", "starting")).toBe(true);
    expect(canFollow("starting", "running")).toBe(true);
    expect(canFollow("running", "paused")).toBe(true);
    expect(canFollow("paused", "running")).toBe(true);
    expect(canFollow("running", "stopping")).toBe(true);
    expect(canFollow("stopping", "stopped")).toBe(true);
    expect(canFollow("stopped", "starting")).toBe(true);
  });

  it("let every box be removed, and none come back from it", () => {
    for (const phase of phases.filter((p) => p !== "removing"))
      expect(canFollow(phase, "removing"), phase).toBe(true);
    for (const phase of phases) expect(canFollow("removing", phase), phase).toBe(false);
  });

  it("refuse a step the machine does not know, with a way out", () => {
    expect(moveTo(boxIn("stopped"), { phase: "starting", sinceMs: 1 }).state.phase).toBe("starting");
    expect(() => moveTo(boxIn("stopped"), { phase: "running", sinceMs: 1 })).toThrow(
      expect.objectContaining({
        code: "box.wrong_phase",
        hint: expect.stringContaining("agentbox start a-box"),
      }),
    );
  });

  it("can be required", () => {
    requirePhase(boxIn("running"), "running");
    expect(() => requirePhase(boxIn("paused"), "running")).toThrow(
      expect.objectContaining({ code: "box.wrong_phase" }),
    );
  });
});
