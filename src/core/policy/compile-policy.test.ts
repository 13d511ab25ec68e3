import { describe, expect, it } from "vitest";
import { NetworkPolicy, noNetwork } from "../../contract/network/policy.ts";
import { allow, compile, layersOf } from "./policy.fixture.ts";
import { networkLayers, readPresets } from "./network-layers.ts";

const preset = {
  name: "tool",
  rules: [
    { host: "index.example.org", ports: [443], methods: [], paths: [] },
    { host: "files.example.org", ports: [8443], methods: ["GET"], paths: ["/x/**"] },
  ],
  unusable: [],
};

describe("compiling a policy", () => {
  it("nothing said is nothing reached", () => expect(compile({})).toEqual(noNetwork));

  it("rules have ids and places, and denials come first", () => {
    const policy = compile({
      host: '[network]\nonly = ["*.example.org"]\n',
      user: allow("user.example.org"),
      project: `[network]
presets = ["tool"]
allow = [
  "a.example.org",
  "b.example.org:8080",
]
[[network.rules]]
host = "c.example.org"
mode = "deny"
[network.exceptions.db]
address = "10.0.0.5:5432"
reason = "the test database"
`,
      flags: { network: { allow: ["typed.example.org"] } },
      presets: [preset],
    });
    expect(NetworkPolicy.parse(policy)).toEqual(policy);
    expect(policy.rules.map(({ id, origin: { layer, line } }) => [id, layer, line])).toEqual([
      ["project:rules[0]", "project", 8],
      ["user:allow[0]", "user", 2],
      ["project:allow[0]", "project", 5],
      ["project:allow[1]", "project", 6],
      ["project:preset:tool[0]", "project", 3],
      ["project:preset:tool[1]", "project", 3],
      ["flag:allow[0]", "flag", undefined],
      ["project:exceptions.db", "project", 11],
    ]);
    expect(policy.rules.find(({ id }) => id === "project:preset:tool[1]")).toMatchObject({
      host: { name: "files.example.org", isWildcard: false },
      ports: [8443],
      methods: ["GET"],
      paths: ["/x/**"],
      origin: { file: "/srv/app/agentbox.toml" },
    });
    expect(policy.bounds.map(({ layer, rules }) => [layer, rules.map(({ id }) => id)])).toEqual([
      ["host", ["host:only[0]"]],
    ]);
  });

  it.each([
    [{}, "deny"],
    [{ fallback: "ask" as const }, "ask"],
    [{ project: '[network]\ndefault = "ask"' }, "ask"],
    [{ project: '[network]\ndefault = "deny"', fallback: "ask" as const }, "deny"],
    [{ user: '[network]\ndefault = "ask"' }, "ask"],
    [{ user: '[network]\ndefault = "deny"', project: '[network]\ndefault = "ask"' }, "deny"],
    [{ user: '[network]\ndefault = "deny"', flags: { network: { default: "ask" } } }, "ask"],
    [{ host: '[network]\ndefault = "deny"', flags: { network: { default: "ask" } } }, "deny"],
    [{ user: '[network]\ndefault = "ask"', project: '[network]\ndefault = "deny"' }, "deny"],
  ])("%j: the default is %s", (texts, expected) => expect(compile(texts).default).toBe(expected));

  it("a preset that was not read is an error", () => {
    const project = '[network]\npresets = ["tool"]';
    expect(compile({ project, presets: [preset] }).rules).toHaveLength(2);
    expect(() => compile({ project })).toThrow(expect.objectContaining({ code: "policy.invalid" }));
  });

  it("presets of all layers are read once each", async () => {
    const asked: string[] = [];
    const source = {
      names: ["tool"],
      aliases: [],
      read: (name: string) => (asked.push(name), Promise.resolve({ ...preset, name })),
    };
    const layers = networkLayers(
      layersOf({ user: '[network]\npresets = ["tool"]', project: '[network]\npresets = ["tool", "more"]' }),
    );
    expect([...(await readPresets(source, layers)).keys()]).toEqual(["tool", "more"]);
    expect(asked).toEqual(["tool", "more"]);
  });
});
