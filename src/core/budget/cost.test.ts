import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noUsage } from "../../contract/model/usage.ts";
import { costOf, mostItCosts, outputFor } from "./cost.ts";

const usage = (change: Partial<typeof noUsage>) => ({ ...noUsage, ...change });

describe("costOf", () => {
  it("prices each part apart", () => {
    const price = { input: 3, output: 15, cached: 0.3, cache_write: 3.75 };
    expect(costOf(usage({ input: 1_000, output: 100 }), price)).toBe(4_500);
    expect(costOf(usage({ input: 1_000, cached: 800, cacheWrite: 100 }), price)).toBe(300 + 240 + 375);
    expect(costOf(usage({ output: 10, reasoning: 9 }), price)).toBe(150);
  });

  it("takes the input's price where the cache has none", () => {
    expect(costOf(usage({ input: 10, cached: 4, cacheWrite: 4 }), { input: 2, output: 1 })).toBe(20);
  });

  it("rounds up, and only up", () => {
    const price = { input: 0.1, output: 1.1 };
    expect(costOf(usage({ input: 1 }), price)).toBe(1);
    expect(costOf(usage({ input: 10 }), price)).toBe(1);
    expect(costOf(usage({ input: 11 }), price)).toBe(2);
    // 1.1 * 10 is 11.000000000000002 in floating point.
    expect(costOf(usage({ output: 10 }), price)).toBe(11);
    expect(costOf(usage({ input: 3, output: 10 }), price)).toBe(12);
    expect(costOf(noUsage, price)).toBe(0);
  });

  it("stays exact for numbers as great as anybody has", () => {
    const input = 100_000_000;
    expect(costOf(usage({ input }), { input: 100_000, output: 0 })).toBe(1e13);
  });
});

/** In ten-thousandths of a dollar: most floating-point numbers are as good as zero. */
const dollars = fc.nat(1_000_000).map((n) => n / 10_000);
const prices = fc.record({
  input: dollars,
  output: dollars,
  cached: fc.option(dollars, { nil: undefined }),
  cache_write: fc.option(dollars, { nil: undefined }),
});
const count = fc.nat(1_000_000);

describe("what is reserved", () => {
  it("is never less than what a request of that size costs, whatever was cached", () => {
    fc.assert(
      fc.property(count, count, count, count, prices, (input, output, cached, cacheWrite, price) => {
        const cost = costOf(usage({ input, output, cached, cacheWrite }), price);
        expect(cost).toBeLessThanOrEqual(mostItCosts(input, output, price));
      }),
    );
  });

  it("is the greatest output that the money is enough for", () => {
    fc.assert(
      fc.property(count, count, prices, (microUsd, input, price) => {
        const output = outputFor(microUsd, input, price);
        if (output < 0) expect(mostItCosts(input, 0, price)).toBeGreaterThan(microUsd);
        else if (output !== Infinity) {
          expect(mostItCosts(input, output, price)).toBeLessThanOrEqual(microUsd);
          expect(mostItCosts(input, output + 1, price)).toBeGreaterThan(microUsd);
        }
      }),
    );
  });
});
