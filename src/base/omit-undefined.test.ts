import { describe, expect, it } from "vitest";
import { omitUndefined } from "./omit-undefined.ts";

describe("omitUndefined", () => {
  it("leaves out undefined alone and keeps the order", () => {
    const fields = omitUndefined({ b: 0, gone: undefined, a: null, text: "", no: false });
    expect(JSON.stringify(fields)).toBe('{"b":0,"a":null,"text":"","no":false}');
    expect("gone" in fields).toBe(false);
  });

  it("types a field that may be undefined as one that may be absent", () => {
    const size: number | undefined = [1, 2].at(5);
    const exact: { readonly name: string; readonly size?: number } = omitUndefined({ name: "x", size });
    expect(Object.keys(exact)).toEqual(["name"]);
  });
});
