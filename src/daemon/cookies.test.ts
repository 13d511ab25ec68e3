import { describe, expect, it } from "vitest";
import { cookieName, cookiePairs, cookieValues } from "./cookies.ts";

describe("a Cookie header", () => {
  it("is read into pairs, with all values of a name in their order", () => {
    const header = " a=1;session=x=y==; ;b; session = z ;Session=w";
    expect(cookiePairs(header)).toEqual(["a=1", "session=x=y==", "b", "session = z", "Session=w"]);
    expect(cookieValues(header, "session")).toEqual(["x=y==", "z"]);
    expect(cookieValues(undefined, "session")).toEqual([]);
  });

  it("gives a pair without a name no name, so that it stands for none", () => {
    expect(cookieName("session")).toBe("");
    expect(cookieName("=session")).toBe("");
    expect(cookieValues("session; =session", "session")).toEqual([]);
  });
});
