import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseManifest } from "../../manifest/index.ts";
import type { EgressRecord } from "../../contract/network/egress.ts";
import { decideEgress } from "./decide-egress.ts";
import { learnPolicy } from "./learn-policy.ts";
import { compile } from "./policy.fixture.ts";

const record = (
  host: string,
  port: number,
  reason: string,
  more: Partial<EgressRecord> = {},
): EgressRecord => ({
  id: 1,
  atMs: 1,
  box: "b",
  incarnation: "i",
  via: "tcp",
  host,
  port,
  verdict: "deny",
  reason,
  bytesOut: 0,
  bytesIn: 0,
  ...more,
});

describe("learning a policy", () => {
  it("is the smallest one that lets through what was wanted", () => {
    const text = learnPolicy([
      record("b.example.org", 443, "no_rule"),
      record("a.example.org", 80, "no_rule"),
      record("a.example.org", 443, "no_rule"),
      record("db.example.org", 5432, "wrong_port"),
      record("seen.example.org", 443, "", { verdict: "allow" }),
      record("api.example.org", 443, "wrong_method", { method: "POST", path: "/v1/x" }),
      record("api.example.org", 443, "wrong_path", { method: "POST", path: "/v1/y?token=1" }),
      record("169.254.169.254", 80, "forbidden_range"),
    ]);
    expect(text).toBe(`# Refused, and not for a rule like these to open:
# 169.254.169.254 on port 80: forbidden_range

[network]
allow = [
  "a.example.org",
  "b.example.org",
  "db.example.org:5432",
]

[[network.rules]]
host = "api.example.org"
ports = [443]
methods = ["POST"]
paths = ["/v1/x", "/v1/y"]
`);
    const policy = compile({ project: text });
    const outcome = (host: string, port: number) =>
      decideEgress(policy, { host, port }, { nowMs: 0 }).outcome;
    expect([outcome("a.example.org", 80), outcome("db.example.org", 5432)]).toEqual(["allow", "allow"]);
    expect(outcome("seen.example.org", 443)).toBe("deny");
  });

  it("is empty when nothing was refused", () => {
    expect(learnPolicy([record("a.example.org", 443, "", { verdict: "allow" })])).toMatch(/^# Nothing/);
  });

  it("whatever the box asked for, it is a valid manifest without wildcards", () => {
    const text = fc.oneof(
      fc.domain(),
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom("*.com", "*", 'a"]\n[env]'),
    );
    const reason = fc.constantFrom("no_rule", "wrong_port", "wrong_method", "wrong_path", "bad_host");
    const hostile = fc
      .tuple(text, fc.integer({ min: 1, max: 65_535 }), reason, text, text)
      .map(([host, port, why, method, path]) => record(host, port, why, { method, path: `/${path}` }));
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 8 }), (records) => {
        const toml = learnPolicy(records);
        const { manifest, findings } = parseManifest(`version = 1\n${toml}`, { file: "learned" });
        expect(findings).toEqual([]);
        expect(Object.keys(manifest!).filter((key) => key !== "version" && key !== "network")).toEqual([]);
        expect(toml.replaceAll(/^#.*$/gm, "")).not.toContain("*");
      }),
      { numRuns: 500 },
    );
  });
});
