import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalHost, hostText } from "../../contract/network/host-name.ts";
import { matchesHost } from "../../contract/network/host-pattern.ts";
import type { EgressRequest, NetworkPolicy } from "../../contract/network/policy.ts";
import { decideEgress, decideSafely } from "./decide-egress.ts";
import { type PolicyTexts, allow, compile } from "./policy.fixture.ts";

const nowMs = Date.parse("2030-01-01T00:00:00Z");
const facts = { nowMs, hostAddresses: ["203.0.113.77"] };
const ask = (policy: NetworkPolicy, host: string, port = 443, more: Partial<EgressRequest> = {}) => {
  const decision = decideEgress(policy, { host, port, ...more }, facts);
  return decision.outcome === "allow"
    ? `allow${decision.mustInspect ? " inspected" : ""}`
    : `${decision.outcome} ${decision.reason}`;
};
const judge = (
  texts: PolicyTexts | string,
  ...rest: Parameters<typeof ask> extends [unknown, ...infer R] ? R : never
) => ask(compile(typeof texts === "string" ? { project: texts } : texts), ...rest);
const rule = (text: string) => `[[network.rules]]\n${text}\n`;

describe("hosts", () => {
  const texts = allow("example.org", "*.cdn.example.org", "db.example.org:5432");
  it.each([
    ["example.org", 443, "allow"],
    ["example.org", 80, "allow"],
    ["EXAMPLE.ORG.", 443, "allow"],
    ["a.cdn.example.org", 443, "allow"],
    ["a.b.cdn.example.org", 443, "allow"],
    ["db.example.org", 5432, "allow"],
    ["example.org", 22, "deny wrong_port"],
    ["db.example.org", 443, "deny wrong_port"],
    ["cdn.example.org", 443, "deny no_rule"],
    ["www.example.org", 443, "deny no_rule"],
    ["evilexample.org", 443, "deny no_rule"],
    ["example.org.evil.test", 443, "deny no_rule"],
    ["acdn.example.org", 443, "deny no_rule"],
    ["example.org\0.evil.test", 443, "deny bad_host"],
    ["example.org@evil.test", 443, "deny bad_host"],
    ["example.org%00.evil.test", 443, "deny bad_host"],
    ["evil.test/example.org", 443, "deny bad_host"],
    ["", 443, "deny bad_host"],
    ["8.8.8.8", 443, "deny raw_address"],
    ["127.0.0.1", 443, "deny forbidden_range"],
    ["2130706433", 80, "deny forbidden_range"],
    ["0x7f.1", 80, "deny forbidden_range"],
    ["[::ffff:169.254.169.254]", 80, "deny forbidden_range"],
    ["203.0.113.77", 443, "deny forbidden_range"],
    ["localhost", 80, "deny reserved_name"],
    ["metadata.google.internal", 80, "deny reserved_name"],
    ["model.agentbox.internal", 80, "deny reserved_name"],
  ])("%j:%i → %s", (host, port, expected) => expect(judge(texts, host, port)).toBe(expected));

  it("without a policy nothing is reached; with one it is: the control", () => {
    expect(judge("", "example.org")).toBe("deny no_rule");
    expect(judge(allow("example.org"), "example.org")).toBe("allow");
  });

  it("unlisted hosts are a question where the default says so, forbidden ones never are", () => {
    const asking = '[network]\ndefault = "ask"\nallow = ["example.org"]\n';
    expect(judge(asking, "other.test")).toBe("ask no_rule");
    expect(judge(asking, "example.org", 22)).toBe("ask wrong_port");
    expect(judge(asking, "example.org")).toBe("allow");
    for (const host of ["127.0.0.1", "localhost", "x.agentbox.internal", "8.8.8.8", "a..b"])
      expect(judge(asking, host), host).toMatch(/^deny/);
  });

  it("learning lets nothing more through", () => {
    const learning = compile({ project: '[network]\nlearn = true\nallow = ["example.org"]\n' });
    expect(learning.isLearning).toBe(true);
    expect(ask(learning, "other.test")).toBe("deny no_rule");
    expect(ask(learning, "example.org")).toBe("allow");
  });
});

describe("methods and paths", () => {
  const get = rule('host = "api.example.org"\nmethods = ["GET"]\npaths = ["/repos/**"]');
  it.each([
    [get, undefined, undefined, "allow inspected"],
    [get, "GET", "/repos/a", "allow inspected"],
    [get, "GET", "/repos/a?x=1", "allow inspected"],
    [get, "GET", "/users", "deny wrong_path"],
    [get, "POST", "/repos/a", "deny wrong_method"],
    [get, "get", "/repos/a", "deny wrong_method"],
    [get, "GET", "/repos/%2e%2e/users", "deny malformed"],
    [get, "GET", "/repos/../users", "deny malformed"],
    [get, "GET", "/repos//a", "deny malformed"],
    // A rule that does not ask about paths does not care how they are written.
    [rule('host = "api.example.org"\nmethods = ["GET"]'), "GET", "/@scope%2fname", "allow inspected"],
    [allow("api.example.org"), undefined, undefined, "allow"],
    [allow("api.example.org") + get, undefined, undefined, "allow"],
    [allow("api.example.org") + get, "POST", "/users", "allow"],
    [allow("*.example.org") + get, "POST", "/repos/a", "deny wrong_method"],
    [allow("*.example.org") + get, "GET", "/repos/a", "allow inspected"],
    [rule('host = "api.example.org"\ninspect = true'), undefined, undefined, "allow inspected"],
  ])("%j %s %s → %s", (texts, method, path, expected) =>
    expect(judge(texts, "api.example.org", 443, { method, path })).toBe(expected),
  );

  it("a denial wins over everything, in part where it has conditions", () => {
    const denied = `${allow("api.example.org")}${rule('host = "*.example.org"\npaths = ["/admin/**"]\nmode = "deny"')}`;
    expect(judge(allow("api.example.org"), "api.example.org", 443, { method: "GET", path: "/admin" })).toBe(
      "allow",
    );
    expect(judge(denied, "api.example.org")).toBe("allow inspected");
    expect(judge(denied, "api.example.org", 443, { method: "GET", path: "/x" })).toBe("allow inspected");
    expect(judge(denied, "api.example.org", 443, { method: "GET", path: "/admin/x" })).toBe(
      "deny rule_denies",
    );
    expect(judge(denied, "api.example.org", 443, { method: "GET", path: "/x/..%2fadmin" })).toBe(
      "deny rule_denies",
    );
  });

  it("a denial fits every spelling of its path, and a permission one", () => {
    const denied = `${allow("api.example.org")}${rule('host = "*.example.org"\npaths = ["/admin/**"]\nmode = "deny"')}`;
    for (const path of ["/ADMIN/x", "/admin;a=b/x", "/admin./x", "/admin%20/x", "/admin/", "//x"]) {
      expect(judge(denied, "api.example.org", 443, { method: "GET", path }), path).toBe("deny rule_denies");
      expect(judge(get, "api.example.org", 443, { method: "GET", path }), path).toMatch(
        /^deny (?:wrong_path|malformed)$/,
      );
    }
  });

  it("a second word on the method or the path is refused where a rule that decides is about them", () => {
    const overrides = { method: "header x-http-method-override", path: undefined };
    const request = { method: "GET", path: "/repos/a", overrides };
    const denied = `${allow("api.example.org")}${rule('host = "api.example.org"\nmethods = ["DELETE"]\nmode = "deny"')}`;
    expect(judge(get, "api.example.org", 443, request)).toBe("deny overridden");
    expect(judge(denied, "api.example.org", 443, request)).toBe("deny overridden");
    expect(judge(allow("api.example.org"), "api.example.org", 443, request)).toBe("allow");
    expect(judge(allow("api.example.org") + get, "api.example.org", 443, request)).toMatch(/^allow/);
  });

  it("a denial without ports is for all ports", () => {
    const texts = `${allow("api.example.org:5432")}${rule('host = "api.example.org"\nmode = "deny"')}`;
    expect(judge(allow("api.example.org:5432"), "api.example.org", 5432)).toBe("allow");
    expect(judge(texts, "api.example.org", 5432)).toBe("deny rule_denies");
  });

  it("a question is asked where a rule says so, until a person has said yes", () => {
    const texts = `${allow("api.example.org")}${rule('host = "api.example.org"\nmethods = ["POST"]\nmode = "ask"')}`;
    const policy = compile({ project: texts });
    expect(ask(policy, "api.example.org")).toBe("allow inspected");
    expect(ask(policy, "api.example.org", 443, { method: "GET", path: "/" })).toBe("allow inspected");
    expect(ask(policy, "api.example.org", 443, { method: "POST", path: "/" })).toBe("ask not_approved");
    const yes = { ...policy.rules[0]!, id: "approval:1", origin: { layer: "approval" as const } };
    const approved = { ...policy, rules: [...policy.rules, yes] };
    expect(ask(approved, "api.example.org", 443, { method: "POST", path: "/" })).toMatch(/^allow/);
    const all = compile({ project: rule('host = "x.example.org"\nmode = "ask"') });
    expect(ask(all, "x.example.org")).toBe("ask not_approved");
  });

  it("a rule ends when its time has come", () => {
    const until = (time: string) => rule(`host = "example.org"\nexpires = "${time}"`);
    expect(judge(until("2030-01-01T00:00:01Z"), "example.org")).toBe("allow");
    expect(judge(until("2030-01-01T00:00:00Z"), "example.org")).toBe("deny expired");
    const denial = `${allow("example.org")}${rule('host = "example.org"\nmode = "deny"\nexpires = "2029-01-01T00:00:00Z"')}`;
    expect(judge(denial, "example.org")).toBe("allow");
  });
});

describe("layers", () => {
  it("a project stays within the bounds of user and host", () => {
    const project = allow("example.org", "api.example.org", "other.test");
    expect(judge({ project }, "other.test")).toBe("allow");
    const user = '[network]\nonly = ["*.example.org", "example.org"]\n';
    expect(judge({ user, project }, "example.org")).toBe("allow");
    expect(judge({ user, project }, "other.test")).toBe("deny outside_bound");
    const host = '[network]\nonly = ["example.org"]\n';
    expect(judge({ host, user, project }, "example.org")).toBe("allow");
    expect(judge({ host, user, project }, "api.example.org")).toBe("deny outside_bound");
    expect(judge({ host, user, project, flags: { network: { allow: ["other.test"] } } }, "other.test")).toBe(
      "deny outside_bound",
    );
    const asking = '[network]\ndefault = "ask"\n';
    expect(judge({ user, project: asking }, "other.test")).toBe("deny outside_bound");
    expect(judge({ project: asking }, "other.test")).toBe("ask no_rule");
  });

  it("a denial of any layer wins", () => {
    const project = allow("api.example.org");
    const denial = rule('host = "*.example.org"\nmode = "deny"');
    expect(judge({ project }, "api.example.org")).toBe("allow");
    for (const texts of [{ host: denial, project }, { user: denial, project }, { project: project + denial }])
      expect(judge(texts, "api.example.org")).toBe("deny rule_denies");
  });
});

describe("exceptions", () => {
  const exception = (name: string, address: string) =>
    `[network.exceptions.${name}]\naddress = "${address}"\nreason = "the test database"\n`;
  const policy = compile({ project: exception("db", "10.0.0.5:5432") });

  it("open one address on one port, by name or by address", () => {
    const decision = decideEgress(policy, { host: "db.agentbox.internal", port: 5432 }, facts);
    expect(decision).toMatchObject({
      outcome: "allow",
      host: "db.agentbox.internal",
      mustInspect: false,
      rule: { id: "project:exceptions.db" },
      exception: { address: "10.0.0.5", port: 5432 },
    });
    expect(ask(policy, "10.0.0.5", 5432)).toBe("allow");
    expect(ask(policy, "::ffff:10.0.0.5", 5432)).toBe("allow");
    expect(ask(policy, "10.0.0.5", 22)).toBe("deny forbidden_range");
    expect(ask(policy, "10.0.0.6", 5432)).toBe("deny forbidden_range");
    expect(ask(policy, "db.agentbox.internal", 22)).toBe("deny wrong_port");
    expect(ask(policy, "other.agentbox.internal", 5432)).toBe("deny reserved_name");
    expect(judge("", "10.0.0.5", 5432)).toBe("deny forbidden_range");
  });

  it("of a project need the same address in a bound", () => {
    const project = exception("mine", "10.0.0.5:5432");
    const only = '[network]\nonly = ["example.org"]\n';
    expect(judge({ project }, "mine.agentbox.internal", 5432)).toBe("allow");
    expect(judge({ user: only, project }, "mine.agentbox.internal", 5432)).toBe("deny outside_bound");
    const same = only + exception("db", "10.0.0.5:5432");
    expect(judge({ user: same, project }, "mine.agentbox.internal", 5432)).toBe("allow");
    const other = only + exception("db", "10.0.0.9:5432");
    expect(judge({ user: other, project }, "mine.agentbox.internal", 5432)).toBe("deny outside_bound");
    expect(judge({ user: other, project }, "10.0.0.5", 5432)).toBe("deny outside_bound");
  });

  it("cannot take a name that means another address", () => {
    const user = exception("db", "10.0.0.9:5432");
    expect(compile({ user, project: exception("db", "10.0.0.9:5432") }).exceptions).toHaveLength(1);
    expect(() => compile({ user, project: exception("db", "10.0.0.5:5432") })).toThrow(
      expect.objectContaining({ code: "policy.invalid" }),
    );
  });
});

describe("a decision that fails", () => {
  it("is a denial", () => {
    const broken = {
      ...compile({ project: allow("example.org") }),
      rules: undefined,
    } as unknown as NetworkPolicy;
    const request = { host: "example.org", port: 443 };
    expect(decideSafely(compile({ project: allow("example.org") }), request, facts).outcome).toBe("allow");
    expect(decideSafely(broken, request, facts)).toMatchObject({ outcome: "deny", reason: "policy_error" });
    expect(decideSafely(undefined as unknown as NetworkPolicy, request, facts).outcome).toBe("deny");
  });
});

describe("properties of decisions", () => {
  const name = fc.constantFrom(
    "example.org",
    "api.example.org",
    "a.b.example.org",
    "other.test",
    "evilexample.org",
  );
  const pattern = fc.tuple(fc.constantFrom("", "*."), name).map(([star, host]) => `${star}${host}`);
  const mode = fc.constantFrom("allow", "ask", "deny");
  const entry = fc.record({ host: pattern, mode, methods: fc.constantFrom(undefined, ["GET"], ["POST"]) });
  const policyOf = (
    entries: readonly { host: string; mode: string; methods: readonly string[] | undefined }[],
  ) => compile({ flags: { network: { rules: entries } } });
  const spelling = fc.oneof(
    name,
    name.map((host) => `${host.toUpperCase()}.`),
    fc.ipV4Extended(),
    fc.string({ unit: "binary", maxLength: 20 }),
    fc
      .tuple(name, fc.constantFrom("\0", "@", "%00", "/", "\\", " ", "."), name)
      .map((parts) => parts.join("")),
  );

  it("what is allowed is a name that an allowing rule covers, and no denial does", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), spelling, (entries, host) => {
        const policy = policyOf(entries);
        const decision = decideEgress(policy, { host, port: 443 }, facts);
        if (decision.outcome !== "allow") return;
        const canonical = canonicalHost(host)!;
        expect(decision.host).toBe(hostText(canonical));
        const covers = policy.rules.filter((rule) => matchesHost(rule.host, decision.host));
        expect(covers.some((rule) => rule.mode !== "deny")).toBe(true);
        expect(covers.some((rule) => rule.mode === "deny" && rule.methods.length === 0)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("two spellings of one host get one verdict", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), spelling, (entries, host) => {
        const canonical = canonicalHost(host);
        if (canonical === undefined) return;
        const policy = policyOf(entries);
        const request = { port: 443, method: "GET", path: "/" };
        expect(decideEgress(policy, { ...request, host }, facts)).toEqual(
          decideEgress(policy, { ...request, host: hostText(canonical) }, facts),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it("a denial, a bound or a missing rule never opens anything", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), entry, name, (entries, extra, host) => {
        const request = { host, port: 443, method: "GET", path: "/" };
        const before = decideEgress(policyOf(entries), request, facts).outcome;
        const after = decideEgress(
          policyOf([...entries, { ...extra, mode: "deny" }]),
          request,
          facts,
        ).outcome;
        if (before === "deny") expect(after).toBe("deny");
        if (after === "allow") expect(before).toBe("allow");
      }),
      { numRuns: 2_000 },
    );
  });

  it("a connection that is refused has no request that would pass", () => {
    const method = fc.constantFrom("GET", "POST", "PUT");
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), name, method, (entries, host, verb) => {
        const policy = policyOf(entries);
        const connection = decideEgress(policy, { host, port: 443 }, facts);
        const request = decideEgress(policy, { host, port: 443, method: verb, path: "/" }, facts);
        if (connection.outcome === "deny") expect(request.outcome).toBe("deny");
        // A connection that passes unread must hold for every request.
        if (connection.outcome === "allow" && !connection.mustInspect) expect(request.outcome).toBe("allow");
      }),
      { numRuns: 2_000 },
    );
  });
});
