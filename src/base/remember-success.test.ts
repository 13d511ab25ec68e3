import { describe, expect, it } from "vitest";
import { rememberSuccess } from "./remember-success.ts";

describe("rememberSuccess", () => {
  it("loads once, also for callers that come at the same time", async () => {
    let loads = 0;
    const get = rememberSuccess(async () => (loads += 1));
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });

  it("asks again after a failure", async () => {
    let isThere = false;
    const get = rememberSuccess(async () => {
      if (!isThere) throw new TypeError("not there");
      return "there";
    });
    await expect(get()).rejects.toThrow("not there");
    isThere = true;
    expect(await get()).toBe("there");
  });
});
