import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isModelAllowed, narrowModels } from "./model-pattern.ts";

describe("models that are allowed", () => {
  it("are all without a list, and otherwise those that a pattern names", () => {
    expect(isModelAllowed([], "x")).toBe(true);
    expect(isModelAllowed(["claude-*"], "claude-opus-4-8")).toBe(true);
    expect(isModelAllowed(["claude-*"], "Claude-opus")).toBe(false);
    expect(isModelAllowed(["gpt-5"], "gpt-5-mini")).toBe(false);
    expect(isModelAllowed(["*/llama-*"], "meta/llama-4")).toBe(true);
  });

  it("of two lists are never more than either allows, and never all by accident", () => {
    const pattern = fc.stringMatching(/^[ab*]{1,4}$/);
    const list = fc.array(pattern, { maxLength: 3 });
    fc.assert(
      fc.property(list, list, fc.stringMatching(/^[ab]{0,5}$/), (bound, wanted, model) => {
        const both = narrowModels(bound, wanted);
        if (both === undefined || !isModelAllowed(both, model)) return;
        expect(isModelAllowed(bound, model) && isModelAllowed(wanted, model)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(narrowModels(["a-*"], ["b-*"])).toBeUndefined();
    expect(narrowModels(["a-*"], ["a-1", "b"])).toEqual(["a-1"]);
  });
});
