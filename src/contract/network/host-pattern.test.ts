import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalHost } from "./host-name.ts";
import { matchesHost, parseHostPattern } from "./host-pattern.ts";

const problemOf = (text: string): string | undefined => {
  const parsed = parseHostPattern(text);
  return "problem" in parsed ? parsed.problem : undefined;
};
const patternOf = (text: string) => {
  const parsed = parseHostPattern(text);
  return "pattern" in parsed ? parsed.pattern : expect.fail(`${text}: ${parsed.reason}`);
};

describe("host patterns", () => {
  it.each([
    ["example.org", { pattern: { name: "example.org", isWildcard: false } }],
    ["EXAMPLE.org.", { pattern: { name: "example.org", isWildcard: false } }],
    ["*.example.org", { pattern: { name: "example.org", isWildcard: true } }],
    ["*.Example.co.uk:8443", { pattern: { name: "example.co.uk", isWildcard: true }, port: 8443 }],
    ["bücher.example:5432", { pattern: { name: "xn--bcher-kva.example", isWildcard: false }, port: 5432 }],
    ["ada.github.io", { pattern: { name: "ada.github.io", isWildcard: false } }],
    ["*.ada.github.io", { pattern: { name: "ada.github.io", isWildcard: true } }],
    ["github.io", { pattern: { name: "github.io", isWildcard: false } }],
  ])("%s is read", (text, expected) => expect(parseHostPattern(text)).toEqual(expected));

  it.each([
    "*",
    "*:443",
    "*.com",
    "*.co.uk",
    "*.github.io",
    "*.s3.amazonaws.com",
    "*.unknowntld",
    "a.*.com",
    "foo*.com",
    "*foo.com",
    "**.example.org",
    "*.*.example.org",
  ])("%s covers too much", (text) => expect(problemOf(text)).toBe("too_wide"));

  it.each([
    "127.0.0.1",
    "127.1:80",
    "0x7f000001",
    "[::1]",
    "[::1]:80",
    "::1",
    "8.8.8.8",
    "localhost",
    "metadata",
    "x.local",
    "*.internal.local",
    "metadata.google.internal",
    "db.agentbox.internal",
    "agentbox.internal",
    "*.agentbox.internal",
  ])("%s is not a public name", (text) => expect(problemOf(text)).toBe("not_public"));

  it.each([
    "",
    " ",
    "https://example.org",
    "example.org/path",
    "user@example.org",
    "example.org:",
    "example.org:0",
    "example.org:65536",
    "example.org:443:443",
    "example.org:*",
    "example.org:0443",
    "example..org",
    "example.org\0",
    "*.",
  ])("%j cannot be read", (text) => expect(problemOf(text)).toBe("unreadable"));

  it("a denial may be wide", () => {
    expect(problemOf("*.com")).toBe("too_wide");
    expect(parseHostPattern("*.com", { isDenial: true })).toEqual({
      pattern: { name: "com", isWildcard: true },
    });
  });
});

describe("suffix confusion", () => {
  it.each([
    ["github.com", "github.com", true],
    ["github.com", "evilgithub.com", false],
    ["github.com", "github.com.evil.test", false],
    ["github.com", "api.github.com", false],
    ["*.github.com", "api.github.com", true],
    ["*.github.com", "a.b.github.com", true],
    ["*.github.com", "github.com", false],
    ["*.github.com", "evilgithub.com", false],
    ["*.github.com", "x.evilgithub.com", false],
    ["*.github.com", "github.com.evil.test", false],
  ])("%s and %s: %s", (pattern, host, expected) =>
    expect(matchesHost(patternOf(pattern), host)).toBe(expected),
  );

  it("what matches is the name itself or lies below it, label by label", () => {
    const label = fc.constantFrom("a", "b", "api", "evil", "example", "org", "test");
    const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join("."));
    fc.assert(
      fc.property(name, name, fc.boolean(), (pattern, host, isWildcard) => {
        const labels = host.split(".");
        const tail = labels.slice(labels.length - pattern.split(".").length).join(".");
        const expected = isWildcard ? tail === pattern && host !== pattern : host === pattern;
        expect(matchesHost({ name: pattern, isWildcard }, host)).toBe(expected);
      }),
    );
  });

  it("whatever text is read as a pattern, it stands for a canonical name", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.domain(), fc.string({ unit: "binary", maxLength: 30 }), fc.webUrl()),
        (text) => {
          const parsed = parseHostPattern(text);
          if ("pattern" in parsed)
            expect(canonicalHost(parsed.pattern.name)).toEqual({ kind: "name", name: parsed.pattern.name });
        },
      ),
    );
  });
});
