import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalHost, hostText, reservedName } from "./host-name.ts";

const canonical = (text: string): string | undefined => {
  const host = canonicalHost(text);
  return host && hostText(host);
};

describe("one spelling for each host", () => {
  it.each([
    ["example.org", "example.org"],
    ["EXAMPLE.Org", "example.org"],
    ["example.org.", "example.org"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["BÜCHER.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["ｅｘａｍｐｌｅ.org", "example.org"],
    ["_dmarc.example.org", "_dmarc.example.org"],
    ["localhost", "localhost"],
  ])("%s is the name %s", (text, name) => {
    expect(canonicalHost(text)).toEqual({ kind: "name", name });
  });

  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["0x7f.1", "127.0.0.1"],
    ["0177.0.0.1", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["127.0.0.1.", "127.0.0.1"],
    ["１２７.0.0.1", "127.0.0.1"],
    ["①②⑦.0.0.1", "127.0.0.1"],
    ["::1", "::1"],
    ["[::1]", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["[2001:DB8::0:1]", "2001:db8::1"],
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["[::ffff:7f00:1]", "127.0.0.1"],
    ["::ffff:a9fe:a9fe", "169.254.169.254"],
  ])("%s is the address %s", (text, address) => {
    expect(canonicalHost(text)).toEqual({ kind: "address", address });
  });

  it.each([
    "",
    ".",
    "a..b",
    ".example.org",
    "example.org..",
    "example.org\0.evil.test",
    "example.org\0",
    "good.test@evil.test",
    "example.org/",
    "example.org\\evil.test",
    "example.org?x",
    "example.org#x",
    "example.org%00",
    "example%2eorg",
    "[::1%eth0]",
    "fe80::1%1",
    "example.org:80",
    "[example.org]",
    "[127.0.0.1]",
    "[::1",
    "::1]",
    "exa mple.org",
    " example.org",
    "example.org\r\nHost: evil.test",
    "example\u00ad.org",
    "exam\u200bple.org",
    "example。org",
    "ｅxample／org",
    "-example.org",
    "example-.org",
    "*.example.org",
    "1.2.3.4.5",
    "256.256.256.256",
    "example.0x7",
    "xn--a",
    `${"a".repeat(64)}.org`,
    `${"a.".repeat(127)}org`,
    "x".repeat(10_000),
  ])("%j is no host", (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });
});

const hostish = fc.oneof(
  fc.domain(),
  fc.ipV4Extended(),
  fc.ipV6(),
  fc.stringMatching(/^[a-zA-Z0-9._\-:[\]%@]{1,40}$/),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.string({ unit: "binary", maxLength: 30 }),
);

describe("properties of canonical hosts", () => {
  it("reading one again changes nothing", () => {
    fc.assert(
      fc.property(hostish, (text) => {
        const once = canonical(text);
        if (once !== undefined) expect(canonical(once)).toBe(once);
      }),
      { numRuns: 3_000 },
    );
  });

  it("they hold nothing that another parser could stumble over", () => {
    fc.assert(
      fc.property(hostish, (text) => {
        const host = canonicalHost(text);
        if (host?.kind === "name") expect(host.name).toMatch(/^[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9_])?$/);
        if (host?.kind === "address") expect(host.address).toMatch(/^[0-9.]+$|^[0-9a-f:]+$/);
      }),
      { numRuns: 3_000 },
    );
  });

  it("case and a trailing dot make no difference", () => {
    fc.assert(
      fc.property(fc.domain(), (name) => {
        expect(canonical(`${name.toUpperCase()}.`)).toBe(canonical(name));
      }),
    );
  });

  it("every spelling of an IPv4 address is that address", () => {
    fc.assert(
      fc.property(fc.nat(0xff_ff_ff_ff), (value) => {
        const dotted = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
        const spellings = [
          String(value),
          `0x${value.toString(16)}`,
          `0${value.toString(8)}`,
          dotted.replaceAll(/\d+/g, (part) => `0x${Number(part).toString(16)}`),
          `::ffff:${dotted}`,
          `[::ffff:${(value >>> 16).toString(16)}:${(value & 0xff_ff).toString(16)}]`,
        ];
        for (const spelling of spellings) expect(canonical(spelling), spelling).toBe(dotted);
      }),
    );
  });
});

describe("names that no rule opens", () => {
  it.each([
    "localhost",
    "metadata",
    "foo.localhost",
    "printer.local",
    "metadata.google.internal",
    "nas.home.arpa",
    "x.lan",
  ])("%s is reserved", (name) => expect(reservedName(name)).toBeDefined());
  it.each(["example.org", "local.example.org", "internal.test", "db.agentbox.internal"])(
    "%s is not",
    (name) => expect(reservedName(name)).toBeUndefined(),
  );
  it("AgentBox's own domain itself is", () => expect(reservedName("agentbox.internal")).toBeDefined());
});
