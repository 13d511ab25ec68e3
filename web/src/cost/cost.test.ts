import { expect, it } from "vitest";
import { usageCsv } from "./csv.ts";
import { customRange, dayMs, daysOf, presetRange } from "./range.ts";

const group = (key: string) => ({
  key,
  totals: {
    requests: 2,
    usage: { input: 10, output: 5, cached: 1, cacheWrite: 0, reasoning: 0 },
    costMicroUsd: 1_250_000,
    unpriced: 0,
    estimated: 1,
  },
});

it("writes a line a group, with its costs in dollars", () => {
  expect(usageCsv("box", [group("shop")]).split("\r\n")).toEqual([
    "box,requests,input_tokens,output_tokens,cached_tokens,cache_write_tokens,reasoning_tokens,cost_usd,unpriced_requests,estimated_requests",
    "shop,2,10,5,1,0,0,1.250000,0,1",
    "",
  ]);
});

it("quotes what needs it, and makes no formula of a name", () => {
  const keys = ['a"b,c', "=HYPERLINK(1)", "@x", "-1+1", "+1", "two\nlines"];
  const csv = usageCsv("model", keys.map(group));
  expect(csv).toContain('"a""b,c",2');
  expect(csv).toContain('"two\nlines",2');
  for (const formula of ["=HYPERLINK(1)", "@x", "-1+1", "+1"]) {
    expect(csv).toContain(`\n'${formula},2`);
    expect(csv).not.toContain(`\n${formula}`);
  }
});

const noon = Date.parse("2026-03-10T12:00:00Z");

it("counts whole UTC days, today included", () => {
  const { fromMs, toMs } = presetRange("week", noon);
  expect(toMs).toBe(Date.parse("2026-03-11T00:00:00Z"));
  expect(toMs - fromMs!).toBe(7 * dayMs);
  expect(presetRange("all", noon).fromMs).toBeUndefined();
});

it("takes two days, both included, and nothing that is no range", () => {
  expect(customRange("2026-03-01", "2026-03-01")).toMatchObject({
    fromMs: Date.parse("2026-03-01T00:00:00Z"),
    toMs: Date.parse("2026-03-02T00:00:00Z"),
  });
  expect(customRange("2026-03-02", "2026-03-01")).toBeUndefined();
  expect(customRange("", "2026-03-01")).toBeUndefined();
});

it("shows days on which nothing happened, and a bounded number of them", () => {
  expect(daysOf(presetRange("week", noon), ["2026-03-09"])).toHaveLength(7);
  expect(daysOf(presetRange("all", noon), ["2026-03-08"])).toEqual([
    "2026-03-08",
    "2026-03-09",
    "2026-03-10",
  ]);
  expect(daysOf(presetRange("all", noon), ["2001-01-01"])).toHaveLength(400);
});
