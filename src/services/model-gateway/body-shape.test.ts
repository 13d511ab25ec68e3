import { describe, expect, it } from "vitest";
import { checkShape } from "./body-shape.ts";

const limits = { requestValues: 20, requestDepth: 4 };
const count = (text: string): number => checkShape(Buffer.from(text), limits);
const failure = (text: string): unknown => {
  try {
    return count(text);
  } catch (error) {
    return (error as { code: unknown }).code;
  }
};

describe("the shape of a request", () => {
  it("is counted by what separates and opens values", () => {
    expect(count("{}")).toBe(1);
    expect(count('{"a":1}')).toBe(2);
    expect(count('{"a":[1,2,3],"b":{}}')).toBe(8);
  });

  it("does not count what stands in a text", () => {
    expect(count(JSON.stringify({ a: '[[[[[[",,,,:::{{{{\\"\\\\' }))).toBe(2);
    expect(count(JSON.stringify({ a: "\\", b: ",,,,,,,,,,,,,,,,,,,,,,,,,,,,," }))).toBe(4);
  });

  it("is refused with too many values, wherever they are", () => {
    expect(count(`[${"0,".repeat(19)}0]`)).toBe(20);
    expect(failure(`[${"0,".repeat(20)}0]`)).toBe("input.too_large");
    expect(failure("[],".repeat(20))).toBe("input.too_large");
  });

  it("is refused when it is nested too deep", () => {
    expect(count("[[[[]]]]")).toBe(4);
    expect(failure("[[[[[]]]]]")).toBe("input.too_large");
    expect(failure('{"a":{"a":{"a":{"a":{}}}}}')).toBe("input.too_large");
    expect(count("[[],[],[[]]]")).toBe(7);
  });
});
