import { expect, it } from "vitest";
import { onceAMinute } from "./repeated-report.ts";

it("reports once what is repeated, and how often when the minute is over", () => {
  const [said, timers]: [string[], (() => void)[]] = [[], []];
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    after: (_: number, call: () => void) => (timers.push(call), () => undefined),
  };
  const report = onceAMinute(clock, ({ box, more }, message) => said.push([box, message, more].join(" ")));
  for (let n = 0; n < 1_000; n += 1) report({ box: "a" }, "it failed");
  report({ box: "b" }, "it failed");
  expect(said).toEqual(["a it failed ", "b it failed "]);
  for (const end of timers.splice(0)) end();
  expect(said.slice(2)).toEqual(["a it failed, 999 more times 999"]);
  report({ box: "a" }, "it failed");
  expect(said.at(-1)).toBe("a it failed ");
  for (let n = 0; n < 5_000; n += 1) report({}, `failure ${n}`);
  expect(said.length).toBeLessThan(300);
});
