import { describe, expect, it } from "vitest";
import { Explanation } from "../../contract/api/schemas.ts";
import { explainEgress, parseDestination } from "./explain-egress.ts";
import { allow, compile } from "./policy.fixture.ts";

const facts = { nowMs: 0 };

describe("explaining a decision", () => {
  const policy = compile({
    user: '[network]\nonly = ["*.example.org", "example.org", "example.org:22", "example.org:8080"]\n',
    project: `${allow("example.org", "elsewhere.test")}[[network.rules]]\nhost = "api.example.org"\nmethods = ["GET"]\npaths = ["/v1/**"]\n`,
  });
  const explain = (url: string, method = "GET") => {
    const explanation = explainEgress(policy, { url, method }, facts);
    expect(Explanation.parse(explanation)).toEqual(explanation);
    expect(explanation.sentence).toMatch(/^\S.*\.$/);
    expect(explanation.howToChange).not.toBe("");
    return explanation;
  };

  it("names the rule, its layer, file and line", () => {
    expect(explain("https://example.org/x")).toMatchObject({
      verdict: "allow",
      host: "example.org",
      port: 443,
      rule: "project:allow[0]",
      layer: "project",
      file: "/srv/app/agentbox.toml",
      line: 3,
      sentence: "The box may reach example.org on port 443, by project:allow[0].",
    });
    expect(explain("https://api.example.org/v1/x")).toMatchObject({
      verdict: "allow",
      rule: "project:rules[0]",
    });
  });

  it.each([
    ["https://api.example.org/v1/x", "POST", "wrong_method", "does not allow POST"],
    ["https://api.example.org/v2", "GET", "wrong_path", "does not allow /v2"],
    ["https://api.example.org/v1/../v2", "GET", "malformed", "more than one way"],
    ["ssh://example.org", "GET", "wrong_port", "other ports"],
    ["example.org:8080", "GET", "wrong_port", "other ports"],
    ["https://www.example.org", "GET", "no_rule", "no rule names it"],
    ["https://elsewhere.test", "GET", "outside_bound", "upper bound"],
    ["http://169.254.169.254/latest", "GET", "forbidden_range", "belongs to the host"],
    ["http://[::1]:80/", "GET", "forbidden_range", "belongs to the host"],
    ["http://localhost/", "GET", "reserved_name", "without a dot"],
    ["https://example.org@evil.test/", "GET", "bad_host", "not a host name"],
    ["", "GET", "bad_host", "not a host name"],
  ])("%s %s is %s", (url, method, reason, words) => {
    expect(explain(url, method)).toMatchObject({ verdict: "deny", reason });
    expect(explain(url, method).sentence).toContain(words);
  });

  it("says where the bound stands that was left", () => {
    expect(explain("https://elsewhere.test")).toMatchObject({
      layer: "user",
      file: "/home/ada/.agentbox/config.toml",
      line: 2,
      howToChange:
        'Add "elsewhere.test" to network.only of the user policy (/home/ada/.agentbox/config.toml:2).',
    });
  });

  it("says how a missing host would be allowed", () => {
    expect(explain("https://www.example.org").howToChange).toContain('"www.example.org"');
  });

  it.each(["ftp://host", "constructor://host"])("guesses no port for %s", (url) => {
    expect(() => parseDestination(url)).toThrow(expect.objectContaining({ code: "input.invalid" }));
  });

  it("takes a destination apart without correcting it", () => {
    expect(parseDestination("https://Host:8443/a/../b?q")).toEqual({
      host: "Host",
      port: 8443,
      path: "/a/../b?q",
    });
    expect(parseDestination("http://[::1]:81")).toEqual({ host: "[::1]", port: 81, path: "/" });
    expect(parseDestination("host")).toEqual({ host: "host", port: 443, path: "/" });
    expect(parseDestination("https://host?x")).toEqual({ host: "host", port: 443, path: "/?x" });
    expect(parseDestination("ftp://host:21")).toEqual({ host: "host", port: 21, path: "/" });
  });
});
