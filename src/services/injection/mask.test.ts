import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Mask, maskText } from "./mask.ts";
import { PatternSet } from "./pattern-set.ts";
import { valueForms } from "./value-forms.ts";

const patternsOf = (...values: string[]): PatternSet =>
  new PatternSet(valueForms(values.map((value) => ({ value }))));

/** Cuts into pieces at the given offsets. */
function cut(bytes: Buffer, cutsAt: readonly number[]): Buffer[] {
  const ends = [...cutsAt.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

function masked(patterns: PatternSet, chunks: readonly Buffer[]): Buffer {
  const mask = new Mask(patterns);
  return Buffer.concat([...chunks.map((chunk) => Buffer.from(mask.next(chunk))), mask.rest()]);
}

const value = fc.string({
  unit: fc.constantFrom(..."abcAB12+/=-_.~%&<>\"'\\ ".split("")),
  minLength: 6,
  maxLength: 60,
});
const around = fc.array(fc.oneof(fc.string({ maxLength: 12 }), fc.constant(undefined)), { maxLength: 6 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe("masking", () => {
  it("takes every occurrence out, keeps the length, and changes nothing else", () => {
    fc.assert(
      fc.property(value, around, cuts, (secret, parts, cutsAt) => {
        const text = parts.map((part) => part ?? secret).join("");
        const input = Buffer.from(text, "latin1");
        const patterns = patternsOf(secret);
        const output = masked(patterns, cut(input, cutsAt));
        expect(output.length).toBe(input.length);
        expect(output.includes(Buffer.from(secret, "latin1"))).toBe(false);
        const whole = masked(patterns, [input]);
        // Every byte that differs from the input is a star, and lies where the value lies in the uncut text.
        for (let i = 0; i < input.length; i += 1) {
          if (output[i] !== input[i]) expect([output[i], whole[i]]).toEqual([0x2a, 0x2a]);
        }
        let hasHit = false;
        patterns.search(input, () => (hasHit = true));
        if (!hasHit) expect(output).toEqual(input);
      }),
      { numRuns: 2000 },
    );
  });

  it("lets at most the first four bytes of a long value through, and only where it is cut there", () => {
    const secret = "0123456789abcdefghijABCDEFGHIJxyz!";
    const patterns = patternsOf(secret);
    const input = Buffer.from(`<${secret}>`);
    for (let at = 0; at <= input.length; at += 1) {
      const output = masked(patterns, [input.subarray(0, at), input.subarray(at)]).toString();
      const shown = at > 1 && at <= 5 ? at - 1 : 0;
      expect(output).toBe(`<${secret.slice(0, shown)}${"*".repeat(secret.length - shown)}>`);
    }
  });

  it("passes everything at once that is no beginning of a value", () => {
    const mask = new Mask(patternsOf("0123456789abcdefghij"));
    expect(mask.next(Buffer.from("data: x\n\n")).toString()).toBe("data: x\n\n");
    expect(mask.next(Buffer.from("a message that ends in 0")).toString()).toBe("a message that ends in 0");
    expect(mask.next(Buffer.from("0123456")).toString()).toBe("");
    expect(mask.next(Buffer.from("!")).toString()).toBe("0123456!");
  });

  it.each([
    ["as it is", (v: string) => v],
    ["in base64", (v: string) => Buffer.from(v).toString("base64")],
    ["in base64 for URLs", (v: string) => Buffer.from(v).toString("base64url")],
    ["inside base64, at 1", (v: string) => Buffer.from(`u${v}more`).toString("base64")],
    ["inside base64, at 2", (v: string) => Buffer.from(`us${v}`).toString("base64")],
    ["inside base64, at 3", (v: string) => Buffer.from(`use${v}?`).toString("base64url")],
    ["in a URL", encodeURIComponent],
    [
      "in a URL, in lower case",
      (v: string) => encodeURIComponent(v).replaceAll(/%../g, (x) => x.toLowerCase()),
    ],
    ["in a form", (v: string) => new URLSearchParams({ v }).toString().slice(2)],
    ["in JSON", (v: string) => JSON.stringify(v)],
    ["in PHP's JSON", (v: string) => JSON.stringify(v).replaceAll("/", "\\/")],
    [
      "in Go's JSON",
      (v: string) =>
        JSON.stringify(v).replaceAll("&", "\\u0026").replaceAll("<", "\\u003c").replaceAll(">", "\\u003e"),
    ],
    [
      "in HTML",
      (v: string) =>
        v.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    ],
  ])("knows a value %s", (_, write) => {
    const secret = 'pa/ss+w"rd&<x>=y z\\0123';
    const sealed = maskText(patternsOf(secret), `[${write(secret)}]`);
    expect(sealed).toHaveLength(write(secret).length + 2);
    // Of base64 at most a character at each end depends on other bytes too.
    expect(sealed.replaceAll("*", "").length).toBeLessThanOrEqual(14);
    expect(sealed).toContain("*".repeat(secret.length));
  });

  it("does not mask what is too short to be told from chance", () => {
    expect(maskText(patternsOf("abc12"), "abc12 abc12")).toBe("abc12 abc12");
    expect(maskText(patternsOf("abc123"), "abc12 abc123")).toBe("abc12 ******");
  });
});

describe("a set of patterns", () => {
  it("finds every occurrence that a search for each alone finds", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), fc.array(word), (words, texts) => {
        const text = Buffer.from(texts.join(""));
        const found = new Set<string>();
        new PatternSet(words.map((one) => Buffer.from(one))).search(text, (start, end) => {
          found.add(`${start}-${end}`);
          return undefined;
        });
        const expected = new Set<string>();
        for (const one of words)
          for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1))
            expected.add(`${at}-${at + one.length}`);
        expect(found).toEqual(expected);
      }),
    );
  });
});
