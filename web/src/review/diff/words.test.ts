import fc from "fast-check";
import { expect, it } from "vitest";
import { changedSpans } from "./words.ts";

const marked = (before: string, after: string) => {
  const spans = changedSpans(before, after);
  return (
    spans && [
      before.slice(spans.before.start, spans.before.end),
      after.slice(spans.after.start, spans.after.end),
    ]
  );
};

it.each([
  ["const a = 1;", "const a = 2;", ["1", "2"]],
  ["return total;", "return totals;", ["total", "totals"]],
  ["f(a)", "f(a, b)", ["", ", b"]],
  ["one", "two", undefined],
  ["same", "same", undefined],
])("%s → %s", (before, after, expected) => expect(marked(before, after)).toEqual(expected));

it("marks what differs and nothing less", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const spans = changedSpans(before, after);
      if (spans === undefined) return;
      expect(before.slice(0, spans.before.start)).toBe(after.slice(0, spans.after.start));
      expect(before.slice(spans.before.end)).toBe(after.slice(spans.after.end));
      expect(spans.before.start).toBeLessThanOrEqual(spans.before.end);
      expect(spans.after.start).toBeLessThanOrEqual(spans.after.end);
    }),
  );
});
