import { describe, expect, it } from "vitest";
import type { BoxDetails, Explanation, NetAnswer, PolicyAnswer } from "../../contract/api/schemas.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { EgressRecord } from "../../contract/network/egress.ts";
import { renderEvent } from "../commands/events.ts";
import { renderDetails } from "../commands/inspect.ts";
import { renderNet } from "../commands/net.ts";
import { renderExplanation, renderPolicy } from "../commands/policy.ts";
import { reasonText, targetText } from "../../contract/network/egress-words.ts";
import { createStyle } from "./style.ts";

const plain = createStyle(false);
const escape = /\u001b/;

const denial: EgressRecord = {
  id: 9,
  atMs: 60_000,
  box: "shop",
  incarnation: "i",
  program: "curl",
  via: "tcp",
  host: "evil.example",
  port: 443,
  method: "GET",
  path: "/x\u001b[2J",
  verdict: "deny",
  reason: "no_rule",
  bytesOut: 0,
  bytesIn: 0,
};

const net: NetAnswer = {
  box: "shop",
  hosts: [
    {
      host: "api.example.org",
      port: 443,
      requests: 3,
      denials: 0,
      bytesOut: 2_048,
      bytesIn: 1_048_576,
      open: 1,
      lastAtMs: 119_000,
    },
    {
      host: "evil.example",
      port: 443,
      requests: 0,
      denials: 2,
      bytesOut: 0,
      bytesIn: 0,
      open: 0,
      lastAtMs: 60_000,
    },
  ],
  requests: 3,
  denials: 2,
  bytesOut: 2_048,
  bytesIn: 1_048_576,
};

describe("net", () => {
  const text = renderNet(net, [denial], { nowMs: 120_000, style: plain });

  it("lists hosts with what went through, and the last denials with the reason", () => {
    expect(text).toContain("shop: 3 requests, 2 denials, 2 KiB sent, 1 MiB received");
    expect(text).toMatch(/api\.example\.org\s+443\s+1\s+3\s+0\s+2 KiB\s+1 MiB\s+1s ago/);
    expect(text).toMatch(/1m ago\s+GET evil\.example:443\/x.*no rule names this host\s+-\s+curl/);
    expect(text).toContain("agentbox policy explain --box shop URL");
  });

  it("shows no control character of a box", () => {
    expect(text).not.toMatch(escape);
  });

  it("says which secrets went where, and which were refused", () => {
    expect(text).not.toContain("SECRETS");
    const hosts = [{ ...net.hosts[0]!, secrets: { github: 12, npm: 1 } }, net.hosts[1]!];
    const used: EgressRecord = {
      ...denial,
      host: "api.example.org",
      path: "/user",
      verdict: "allow",
      reason: undefined,
      status: 200,
      secret: "github",
      isInjected: true,
    };
    const refused: EgressRecord = {
      ...used,
      verdict: "deny",
      reason: "secret_not_granted",
      isInjected: false,
    };
    const shown = renderNet({ ...net, hosts }, [], { nowMs: 120_000, style: plain }, [used, refused]);
    expect(shown).toMatch(/LAST\s+SECRETS/);
    expect(shown).toContain("github ×12, npm ×1");
    expect(shown).toMatch(/github\s+used\s+GET api\.example\.org:443\/user\s+200/);
    expect(shown).toMatch(/github\s+refused.*no person has agreed to this use of a secret/);
  });

  it("says when there is nothing", () => {
    const nothing = { ...net, hosts: [], requests: 0, denials: 0, bytesIn: 0, bytesOut: 0 };
    expect(renderNet(nothing, [], { nowMs: 0, style: plain })).toBe(
      "shop has not tried to reach anything yet.",
    );
  });
});

describe("policy", () => {
  const answer: PolicyAnswer = {
    policy: { default: "ask", isLearning: true, bounds: [], rules: [], exceptions: [] },
    lines: [
      {
        verdict: "allow",
        what: "api.example.org:443",
        rule: "project:allow[0]",
        where: "project agentbox.toml:3",
      },
      { verdict: "ask", what: "everything else", rule: "default", where: "" },
    ],
  };
  const explanation: Explanation = {
    verdict: "deny",
    host: "evil.example",
    port: 443,
    sentence: "No rule names evil.example.",
    reason: "no_rule",
    layer: "project",
    file: "/p/agentbox.toml",
    line: 3,
    howToChange: "Add it to network.allow.",
  };

  it("is one line a rule, with where it was written, and what happens otherwise", () => {
    const text = renderPolicy(answer, plain);
    expect(text).toMatch(/allow\s+api\.example\.org:443\s+project:allow\[0\]\s+project agentbox\.toml:3/);
    expect(text).toMatch(/ask\s+everything else\s+default/);
    expect(text).toContain("Learning");
  });

  it("explains: verdict, place and how to change it", () => {
    const text = renderExplanation(explanation, plain);
    expect(text.split("\n")[0]).toBe("deny: No rule names evil.example.");
    expect(text).toMatch(/at\s+\/p\/agentbox\.toml:3/);
    expect(text).toMatch(/to change\s+Add it to network\.allow\./);
  });
});

describe("events of the gate", () => {
  const event = (type: BoxEvent["type"], data: BoxEvent["data"]) =>
    renderEvent({ id: 1, atMs: 0, type, box: "shop", data }, plain);
  const target = { host: "evil.example", port: 443 };

  it("read like sentences", () => {
    expect(event("egress.denied", { ...target, reason: "no_rule", program: "curl", count: 3 })).toMatch(
      /evil\.example:443: no rule names this host, by curl \(3 times\)$/,
    );
    expect(event("egress.allowed", { ...target, rule: "preset:npm" })).toMatch(
      /evil\.example:443: preset:npm$/,
    );
    expect(event("approval.asked", { ...target, approval: 7 })).toMatch(/question 7: evil\.example:443$/);
    expect(event("approval.answered", { ...target, approval: 7, outcome: "allow", scope: "box" })).toMatch(
      /question 7: evil\.example:443: allow, box$/,
    );
    expect(event("policy.changed", { rule: "approval:x:443" })).toMatch(/rule=approval:x:443$/);
  });

  it("show no control character of a box", () => {
    expect(event("egress.denied", { ...target, path: "/\u001b[2J", reason: "no_rule" })).not.toMatch(escape);
  });
});

it("keeps a reason it does not know, without its control characters", () => {
  expect(reasonText("new_reason\u001b")).toBe("new_reason\\u{1b}");
  expect(reasonText("constructor")).toBe("constructor");
  expect(targetText({ host: "a.example", port: 80 })).toBe("a.example:80");
});

describe("inspect", () => {
  const origin = { layer: "project" } as const;
  const rule = { origin, ports: [], methods: [], paths: [], inspect: false } as const;
  const network = {
    default: "ask",
    isLearning: true,
    bounds: [{ layer: "user", rules: [] }],
    rules: [
      { ...rule, id: "a", mode: "allow", host: { name: "a.example", isWildcard: false } },
      { ...rule, id: "b", mode: "deny", host: { name: "b.example", isWildcard: false } },
    ],
    exceptions: [
      {
        name: "db.agentbox.internal",
        address: "10.0.0.5",
        port: 5_432,
        reason: "test\u001b database",
        origin,
      },
    ],
  };
  const details = (box: object) =>
    ({
      box: {
        name: "shop",
        state: { phase: "running", sinceMs: 0 },
        spec: {
          agent: { name: "shell", args: [] },
          workspace: {},
          resources: {},
          lifecycle: { ttlMs: 1 },
          mounts: [],
          secrets: [],
        },
        owner: { uid: 1 },
        isolation: { tier: "none", guarantees: [] },
        restarts: 0,
        ...box,
      },
      isConnected: true,
      paths: { home: "/h", workspace: "/w" },
    }) as unknown as BoxDetails;

  it("sums up the policy and points at every exception", () => {
    const text = renderDetails(details({ network }), 0, createStyle(true));
    expect(text).toContain("1 allow, 1 deny; see: agentbox policy show shop");
    expect(text).toContain("\u001b[33mexception\u001b[39m");
    expect(text).toContain("db.agentbox.internal is 10.0.0.5, port 5432: test\\u{1b} database");
    expect(renderDetails(details({ network }), 0, plain)).toMatch(/otherwise\s+asks a person/);
  });

  it("says which secrets it uses, and flags those that it holds", () => {
    const destinations = [
      {
        scheme: "https",
        host: { name: "example.org", isWildcard: true },
        port: 443,
        methods: [],
        paths: [],
        as: { kind: "bearer" },
      },
    ];
    const spec = {
      ...details({}).box.spec,
      secrets: [
        { name: "api", secret: "prod\u001b", use: { kind: "inject", destinations } },
        { name: "npm", secret: "npm", use: { kind: "env", variable: "NPM_TOKEN" } },
        {
          name: "key",
          secret: "key",
          use: { kind: "ssh", destinations: [{ host: "h", port: 22 }], confirm: true },
        },
      ],
    };
    const text = renderDetails(details({ spec }), 0, plain);
    expect(text).toMatch(/^Secrets\n {2}api \(prod\\u\{1b\}\) +as a bearer token +\*\.example\.org$/m);
    expect(text).toMatch(/^ {2}npm +held by the box +NPM_TOKEN$/m);
    expect(text).toMatch(/^ {2}key +ssh key, confirmed each time +h$/m);
    expect(renderDetails(details({ spec }), 0, createStyle(true))).toContain("\u001b[33mheld by the box");
    expect(renderDetails(details({}), 0, plain)).not.toContain("Secrets");
  });

  it("says that a box without a policy reaches nothing", () => {
    expect(renderDetails(details({}), 0, plain)).toMatch(/reaches\s+nothing/);
  });
});
