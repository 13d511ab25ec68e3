import { describe, expect, it } from "vitest";
import { builtInPrices } from "../../contract/model/price-table.ts";
import { noUsage } from "../../contract/model/usage.ts";
import { costOf, mostItCosts, outputFor } from "./cost.ts";
import { priceWith, settledTerms } from "./price-terms.ts";

const opus = builtInPrices.prices["claude-opus-4-6"]!;
const usage = (change: Partial<typeof noUsage>) => ({ ...noUsage, ...change });

describe("what is asked for beyond the standard", () => {
  it("multiplies the whole price where the table knows it", () => {
    const { price, unknown } = priceWith(["speed=fast"], opus);
    expect(unknown).toEqual([]);
    expect(costOf(usage({ input: 1_000, output: 1_000 }), price)).toBe(30_000 + 150_000);
    const both = priceWith(["speed=fast", "inference_geo=us"], opus).price;
    expect(costOf(usage({ output: 1_000 }), both)).toBe(165_000);
  });

  it("makes only writes to the cache dearer where they live for an hour", () => {
    const { price, unknown } = priceWith(["cache_ttl=1h"], opus);
    expect(unknown).toEqual([]);
    const parts = { input: 3_000, cached: 1_000, cacheWrite: 1_000, output: 1_000 };
    expect(costOf(usage(parts), price)).toBe(5_000 + 500 + 10_000 + 25_000);
    expect(
      costOf(
        usage({ input: 10, cacheWrite: 10 }),
        priceWith(["cache_ttl=1h"], { input: 5, output: 1 }).price,
      ),
    ).toBe(80);
  });

  it("is unknown where nobody has priced it, and a person's own price knows what it says", () => {
    expect(priceWith(["service_tier=priority", "web_search"], opus).unknown).toEqual([
      "service_tier=priority",
      "web_search",
    ]);
    const own = { input: 1, output: 1, terms: { web_search: 1.5 } };
    expect(priceWith(["web_search"], own)).toMatchObject({ price: { output: 1.5 }, unknown: [] });
    expect(priceWith(["speed=fast"], own).unknown).toEqual(["speed=fast"]);
  });

  it("is counted as the standard where it is cheaper", () => {
    expect(priceWith(["service_tier=flex"], opus)).toEqual({ price: opus, unknown: [] });
  });
});

describe("what an answer says", () => {
  it("wins over what was asked, and counts where nothing was asked", () => {
    expect(settledTerms(["service_tier=priority"], { service_tier: "default" })).toEqual([]);
    expect(settledTerms([], { service_tier: "priority" })).toEqual(["service_tier=priority"]);
    expect(settledTerms(["speed=fast", "web_search"], { speed: "standard", inference_geo: "us" })).toEqual([
      "web_search",
      "inference_geo=us",
    ]);
    expect(settledTerms(["speed=fast"])).toEqual(["speed=fast"]);
  });
});

it("a long prompt makes all of the request dearer, and what is reserved for it", () => {
  const gpt = builtInPrices.prices["gpt-5.5"]!;
  expect(costOf(usage({ input: 272_000, output: 1_000 }), gpt)).toBe(272_000 * 5 + 30_000);
  expect(costOf(usage({ input: 272_001, output: 1_000 }), gpt)).toBe(272_001 * 10 + 45_000);
  expect(costOf(usage({ input: 300_000, cached: 300_000 }), gpt)).toBe(300_000);
  expect(mostItCosts(272_001, 1_000, gpt)).toBe(272_001 * 10 + 45_000);
  expect(outputFor(272_001 * 10 + 45_000, 272_001, gpt)).toBe(1_000);
});
