import { describe, expect, it } from "vitest";
import { allowOf, allowSentence, canAllow, hasRequest } from "./allow.ts";
import { needsForce, verbsFor } from "./box-verbs.ts";
import { parseRaise } from "./raise.ts";

describe("allow this", () => {
  const request = { host: "a.test", port: 443, method: "POST", path: "/v1/x?token=1" };
  const choice = { isWholeHost: false, scope: "box", ttlMs: 3_600_000 } as const;

  it("is for the request that was denied, without its query, unless the whole host is chosen", () => {
    expect(allowOf(request, choice)).toEqual({
      host: "a.test",
      port: 443,
      method: "POST",
      path: "/v1/x",
      scope: "box",
      ttlMs: 3_600_000,
    });
    expect(allowOf(request, { ...choice, isWholeHost: true })).not.toHaveProperty("path");
  });

  it("cannot be for a request that is not known, or reads as a pattern", () => {
    expect(hasRequest({ host: "a.test", port: 443 })).toBe(false);
    expect(hasRequest({ ...request, path: "/a*" })).toBe(false);
    expect(hasRequest({ ...request, method: "get it" })).toBe(false);
    expect(hasRequest(request)).toBe(true);
  });

  it("says what is sent, and no less", () => {
    expect(allowSentence("shop", allowOf(request, choice))).toBe(
      "Let the box shop POST a.test:443/v1/x, for 1 hour.",
    );
    const wide = allowOf(request, { isWholeHost: true, scope: "project", ttlMs: 86_400_000 });
    expect(allowSentence("shop", wide)).toBe(
      "Let shop and every other box of its project reach a.test on port 443, for 1 day.",
    );
  });

  it.each(["no_rule", "wrong_path", "not_approved"])("is offered for %s", (reason) =>
    expect(canAllow(reason)).toBe(true),
  );
  it.each(["forbidden_range", "outside_bound", "rule_denies", "secret_not_granted", undefined])(
    "is not offered for %s",
    (reason) => expect(canAllow(reason)).toBe(false),
  );
});

describe("verbs", () => {
  it.each([
    ["running", "working", ["interrupt", "pause", "restart", "stop"]],
    ["running", "idle", ["pause", "restart", "stop"]],
    ["running", undefined, ["pause", "restart", "stop"]],
    ["paused", "working", ["resume", "stop"]],
    ["stopped", "done", ["start"]],
    ["failed", undefined, ["start"]],
    ["removing", undefined, []],
  ] as const)("of a box that is %s, its agent %s", (phase, agent, verbs) =>
    expect(verbsFor(phase, agent)).toEqual(verbs),
  );

  it("only a box at rest is removed without force", () => {
    expect([
      needsForce("stopped"),
      needsForce("failed"),
      needsForce("running"),
      needsForce("paused"),
    ]).toEqual([false, false, true, true]);
  });
});

describe("raising a budget", () => {
  it.each([
    ["100,000", "", { tokens: 100_000 }],
    ["", "$2.50", { microUsd: 2_500_000 }],
    ["1_000", "0.000001", { tokens: 1_000, microUsd: 1 }],
  ])("takes %j and %j", (tokens, usd, expected) => expect(parseRaise(tokens, usd)).toEqual(expected));

  it.each([
    ["", ""],
    ["0", ""],
    ["-5", ""],
    ["1e9", ""],
    ["", "0"],
    ["", "1.2345678"],
    ["", "two"],
  ])("refuses %j and %j", (tokens, usd) => expect(parseRaise(tokens, usd)).toHaveProperty("problem"));
});
