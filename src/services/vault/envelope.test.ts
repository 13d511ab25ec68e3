import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seal, unseal } from "./envelope.ts";

const key = randomBytes(32);
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const purpose = fc.record({ name: fc.string(), version: fc.nat() });

describe("envelope", () => {
  it("opens what it has sealed: any bytes, any name", () =>
    fc.assert(
      fc.property(bytes, purpose, (plain, what) => {
        expect(unseal(key, seal(key, plain, what), what)).toEqual(plain);
      }),
    ));

  it("opens nothing in which a bit is another, and nothing that was cut", () =>
    fc.assert(
      fc.property(bytes, purpose, fc.nat(), fc.nat(7), (plain, what, at, bit) => {
        const sealed = seal(key, plain, what);
        const index = at % sealed.length;
        expect(unseal(key, sealed.subarray(0, index), what)).toBeUndefined();
        sealed[index]! ^= 1 << bit;
        expect(unseal(key, sealed, what)).toBeUndefined();
      }),
    ));

  it("opens nothing for another purpose or with another key, and never seals the same way twice", () =>
    fc.assert(
      fc.property(bytes, purpose, purpose, (plain, what, other) => {
        fc.pre(what.name !== other.name || what.version !== other.version);
        const sealed = seal(key, plain, what);
        expect(unseal(key, sealed, other)).toBeUndefined();
        expect(unseal(randomBytes(32), sealed, what)).toBeUndefined();
        expect(seal(key, plain, what)).not.toEqual(sealed);
      }),
    ));
});
