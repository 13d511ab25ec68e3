import { describe, expect, it } from "vitest";
import { decideEgress } from "./decide-egress.ts";
import { type PolicyTexts, compile } from "./policy.fixture.ts";
import { withSecretRulesOf, withoutSecretRules } from "./secret-rules.ts";

const api = '[secrets.x]\nhow = "bearer"\nhosts = ["api.example.org"]\n';
const decide = (
  texts: PolicyTexts,
  host: string,
  more: { port?: number; method?: string; path?: string } = {},
) => decideEgress(compile(texts), { host, port: 443, ...more }, { nowMs: 0 });
const outcome = (...args: Parameters<typeof decide>) => decide(...args).outcome;

describe("the hosts of secrets", () => {
  it("are rules of the layer that asked, with the place where it did; requests are read", () => {
    expect(
      compile({ project: `\n${api}`, flags: { secrets: { gitlab: { service: "gitlab" } } } }).rules,
    ).toMatchObject([
      {
        id: "project:secrets.x[0]",
        origin: { layer: "project", file: "/srv/app/agentbox.toml", line: 3 },
        mode: "allow",
        ports: [443],
        methods: [],
        paths: [],
        inspect: true,
      },
      { id: "flag:secrets.gitlab[0]", origin: { layer: "flag" } },
      { id: "flag:secrets.gitlab[1]", paths: ["/api/**"] },
    ]);
    expect(decide({ project: api }, "api.example.org")).toMatchObject({
      outcome: "allow",
      mustInspect: true,
    });
    expect(outcome({ project: api }, "b.example.org")).toBe("deny");
    expect(outcome({ project: api }, "api.example.org", { port: 80 })).toBe("deny");
    expect(outcome({}, "api.example.org")).toBe("deny");
  });

  it("are open for the methods and paths of the secret, and no wider", () => {
    const project = `${api}methods = ["GET"]\npaths = ["/v1/**"]`;
    expect(outcome({ project }, "api.example.org", { method: "GET", path: "/v1/a" })).toBe("allow");
    expect(outcome({ project }, "api.example.org", { method: "PUT", path: "/v1/a" })).toBe("deny");
    expect(outcome({ project }, "api.example.org", { method: "GET", path: "/v2" })).toBe("deny");
    const github = { project: '[secrets.github]\nservice = "github"' };
    const fetch = { method: "GET", path: "/a/b.git/info/refs?service=git-upload-pack" };
    expect(outcome(github, "github.com", fetch)).toBe("allow");
    expect(outcome(github, "github.com", { method: "POST", path: "/session" })).toBe("deny");
    const wider = { project: `${github.project}\n[network]\nallow = ["github.com"]` };
    expect(decide(wider, "github.com", { method: "GET", path: "/a" })).toMatchObject({
      outcome: "allow",
      mustInspect: true,
    });
  });

  it("stay within the bound, and a denial wins", () => {
    expect(outcome({ user: '[network]\nonly = ["api.example.org"]', project: api }, "api.example.org")).toBe(
      "allow",
    );
    expect(
      decide({ user: '[network]\nonly = ["b.example.org"]', project: api }, "api.example.org"),
    ).toMatchObject({
      outcome: "deny",
      reason: "outside_bound",
    });
    const host = '[[network.rules]]\nhost = "api.example.org"\nmode = "deny"';
    expect(outcome({ host, project: api }, "api.example.org")).toBe("deny");
  });

  it("for ssh are open on the port of the server; nothing is opened for what the box holds", () => {
    const ssh = { project: '[secrets.x]\nhow = "ssh"\nhosts = ["git@a.example.org", "b.example.org:2222"]' };
    expect(decide(ssh, "a.example.org", { port: 22 })).toMatchObject({
      outcome: "allow",
      mustInspect: false,
    });
    expect(outcome(ssh, "b.example.org", { port: 2222 })).toBe("allow");
    expect(outcome(ssh, "a.example.org")).toBe("deny");
    expect(compile({ project: '[secrets.x]\nhow = "env"\nenv = "TOKEN"' }).rules).toEqual([]);
  });

  it("an exception is reached with a secret under its name, and only by who has opened it", () => {
    const wiki = '[secrets.x]\nhow = "bearer"\nhosts = ["http://wiki.agentbox.internal:8080"]\n';
    const opened = `${wiki}[network.exceptions.wiki]\naddress = "10.0.0.5:8080"\nreason = "our own wiki"`;
    const asked = { port: 8080, method: "GET", path: "/a" };
    expect(decide({ project: opened }, "wiki.agentbox.internal", asked)).toMatchObject({
      outcome: "allow",
      mustInspect: true,
      exception: { address: "10.0.0.5" },
    });
    expect(outcome({ project: wiki }, "wiki.agentbox.internal", asked)).toBe("deny");
  });

  it("go with the secrets, and stay when another policy is put in force", () => {
    const policy = compile({ project: `${api}[network]\nallow = ["b.example.org"]` });
    expect(policy.rules.map(({ id }) => id)).toEqual(["project:allow[0]", "project:secrets.x[0]"]);
    expect(withoutSecretRules(policy).rules.map(({ id }) => id)).toEqual(["project:allow[0]"]);
    const other = compile({ project: '[secrets.y]\nhow = "bearer"\nhosts = ["c.example.org"]' });
    expect(withSecretRulesOf(other, policy).rules.map(({ id }) => id)).toEqual(["project:secrets.x[0]"]);
    expect(withSecretRulesOf(other, undefined).rules).toEqual([]);
  });

  it("an exception that gets another address under the same name is closed to a box with the secret", () => {
    const wiki = (address: string) =>
      `[secrets.x]\nhow = "bearer"\nhosts = ["http://wiki.agentbox.internal:8080"]\n[network.exceptions.wiki]\naddress = "${address}:8080"\nreason = "our own wiki"`;
    const destination = { host: "wiki.agentbox.internal", port: 8080, method: "GET", path: "/a" };
    const before = compile({ project: wiki("10.0.0.5") });
    const reached = (address: string) =>
      decideEgress(withSecretRulesOf(compile({ project: wiki(address) }), before), destination, { nowMs: 0 })
        .outcome;
    expect(reached("10.0.0.5")).toBe("allow");
    expect(reached("10.0.0.66")).toBe("deny");
  });

  it("are not what a person once allowed of a host that is called so", () => {
    const [rule] = compile({ project: api }).rules;
    const approved = {
      ...rule!,
      id: "approval:secrets.example.org:443",
      origin: { layer: "approval" as const },
    };
    const policy = { ...compile({ project: api }), rules: [rule!, approved] };
    expect(withoutSecretRules(policy).rules).toEqual([approved]);
    expect(withSecretRulesOf(compile({}), policy).rules).toEqual([rule]);
  });
});
