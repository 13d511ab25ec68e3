import { describe, expect, it } from "vitest";
import { ModelPrice } from "../../contract/model/price.ts";
import { builtInPrices } from "../../contract/model/price-table.ts";
import { findPrice } from "./prices.ts";

const price = (input: number) => ({ input, output: input * 2 });

describe("findPrice", () => {
  const table = {
    "m-large": price(1),
    "m-large-20250101": price(2),
    "m-*": price(3),
    "m-small*": price(4),
  };
  const find = (model: string) => findPrice(model, [table])?.input;

  it("takes the exact name first", () => {
    expect(find("m-large")).toBe(1);
    expect(find("m-large-20250101")).toBe(2);
  });

  it("ignores the vendor's date where that name is not listed", () => {
    for (const model of ["m-large-20251231", "m-large@20251231", "m-large-2025-12-31", "m-large-latest"]) {
      expect(find(model), model).toBe(1);
    }
    expect(find("m-large-2025")).toBe(3);
  });

  it("takes the longest pattern then, and knows nothing else", () => {
    expect(find("m-smallest")).toBe(4);
    expect(find("m-tiny")).toBe(3);
    expect(find("other")).toBeUndefined();
    expect(find("M-large")).toBeUndefined();
  });

  it("lets a person's price win, even by a pattern", () => {
    const own = { "m-la*": price(9) };
    expect(findPrice("m-large", [own, table])?.input).toBe(9);
    expect(findPrice("m-small", [own, table])?.input).toBe(4);
  });

  it("finds no price in what every object has", () => {
    for (const model of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      expect(findPrice(model, [table, builtInPrices.prices]), model).toBeUndefined();
    }
    expect(findPrice("o3", [builtInPrices.prices])).toBeDefined();
  });
});

describe("the built-in prices", () => {
  it("are valid, dated, and dearer for output than for input", () => {
    expect(builtInPrices.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const [model, one] of Object.entries(builtInPrices.prices)) {
      expect(ModelPrice.safeParse(one).success, model).toBe(true);
      expect(one.output, model).toBeGreaterThan(one.input);
      expect(one.cached ?? 0, model).toBeLessThan(one.input);
    }
  });

  it("know dated names of what agents use", () => {
    const input = (model: string) => findPrice(model, [builtInPrices.prices])?.input;
    expect(input("claude-sonnet-4-5-20250929")).toBe(3);
    expect(input("claude-opus-4-20250514")).toBe(15);
    expect(input("claude-opus-4-5-20251101")).toBe(5);
    expect(input("gpt-4.1-2025-04-14")).toBe(2);
    expect(input("gpt-4o-2024-05-13")).toBe(5);
    expect(input("claude-opus-4-99")).toBeUndefined();
  });
});
