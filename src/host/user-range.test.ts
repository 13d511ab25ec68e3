import { describe, expect, it } from "vitest";
import { chooseUserRange } from "./user-range.ts";

describe("the users of boxes", () => {
  it("lie far away from everybody's on a whole host", () => {
    expect(chooseUserRange("         0          0 4294967295\n").firstUid).toBeGreaterThan(1_000_000);
  });

  it("lie within what a container's root has", () => {
    const { firstUid, count } = chooseUserRange("         0     100000      65536\n");
    expect(firstUid).toBeGreaterThan(1000);
    expect(firstUid + count).toBeLessThan(65_534);
  });
});
