import { describe, expect, it } from "vitest";
import { parseFlags, parseManifest, parseUserConfig } from "../../manifest/index.ts";
import { builtInProviders } from "../../contract/model/api.ts";
import { resolveBudget } from "./resolve-budget.ts";
import { resolveMcp } from "./resolve-mcp.ts";
import { type AgentModel, resolveModel } from "./resolve-model.ts";

const manifest = (text: string) => {
  const parsed = parseManifest(`version = 1\n${text}`, { file: "/srv/app/agentbox.toml" });
  if (!parsed.layer) throw new Error(JSON.stringify(parsed.findings));
  return parsed.layer;
};
const userConfig = (text: string) => {
  const parsed = parseUserConfig(text, { file: "/home/ada/.agentbox/config.toml" });
  if (!parsed.layer) throw new Error(JSON.stringify(parsed.findings));
  return parsed.layer;
};
const claude: AgentModel = { name: "claude", api: "anthropic", defaultModel: "claude-opus-4-8" };
const codex: AgentModel = { name: "codex", api: "openai-responses", defaultModel: undefined };
const refusal = (task: () => unknown) => {
  try {
    return task();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

const local = '[model.providers.local]\napi = "openai"\nbase_url = "http://127.0.0.1:11434/"';

describe("the model of a box", () => {
  it("is the vendor whose API the agent speaks, and nothing for a command", () => {
    expect(resolveModel([], claude)).toEqual({
      provider: "anthropic",
      name: "claude-opus-4-8",
      allow: [],
      aliases: {},
      providers: builtInProviders,
    });
    expect(resolveModel([], codex)?.provider).toBe("openai");
    expect(resolveModel([], undefined)).toBeUndefined();
    expect(resolveModel([userConfig("[model.prices.x]\ninput = 1\noutput = 2")], undefined)).toBeUndefined();
    expect(resolveModel([manifest('[model]\nprovider = "gemini"')], undefined)?.provider).toBe("gemini");
  });

  it("comes from a provider of one's own, without a key unless one is named", () => {
    const spec = resolveModel([manifest(`${local}\n[model]\nprovider = "local"\nname = "qwen"`)], codex);
    expect(spec).toMatchObject({ provider: "local", name: "qwen" });
    expect(spec?.providers.at(-1)).toEqual({
      name: "local",
      api: "openai",
      baseUrl: "http://127.0.0.1:11434",
    });
    const keyed = resolveModel([userConfig(`${local}\nkey_env = "LOCAL_KEY"`)], codex);
    expect(keyed?.providers.at(-1)?.keyVariable).toBe("LOCAL_KEY");
    expect(keyed?.provider).toBe("openai");
  });

  it("a vendor's key goes to another address only when that was written down", () => {
    const of = (text: string) =>
      resolveModel([userConfig(`[model.providers.anthropic]\n${text}`)], claude)?.providers.find(
        ({ name }) => name === "anthropic",
      );
    expect(of('key_env = "MY_KEY"')).toMatchObject({
      baseUrl: "https://api.anthropic.com",
      keyVariable: "MY_KEY",
    });
    expect(of('base_url = "https://api.anthropic.com"')?.keyVariable).toBe("ANTHROPIC_API_KEY");
    expect(of('base_url = "https://proxy.example.org"')).not.toHaveProperty("keyVariable");
    expect(of('base_url = "https://proxy.example.org"\nkey_env = "ANTHROPIC_API_KEY"')?.keyVariable).toBe(
      "ANTHROPIC_API_KEY",
    );
  });

  it("a key in the vault is named, and is in place of the usual variable", () => {
    const of = (text: string) => resolveModel([userConfig(text)], codex)?.providers;
    expect(of('[model.providers.openai]\nkey = "vault:work/openai"')).toContainEqual({
      name: "openai",
      api: "openai",
      baseUrl: "https://api.openai.com",
      keySecret: "work/openai",
    });
    expect(of(`${local}\nkey = "vault:local"`)?.at(-1)).toMatchObject({ name: "local", keySecret: "local" });
    expect(of(local)?.at(-1)).not.toHaveProperty("keySecret");
  });

  it("of a provider the last layer decides all", () => {
    const mine = userConfig(`${local}\nkey_env = "MINE"`);
    const theirs = manifest(local.replace("127.0.0.1:11434", "10.0.0.9:80"));
    const provider = resolveModel([mine, theirs], codex)?.providers.at(-1);
    expect(provider).toEqual({ name: "local", api: "openai", baseUrl: "http://10.0.0.9" });
  });

  it("an unknown provider or one that does not fit is refused", () => {
    expect(refusal(() => resolveModel([manifest('[model]\nprovider = "opnai"')], codex))).toBe(
      "model.unknown_provider",
    );
    expect(refusal(() => resolveModel([manifest('[model]\nprovider = "openai"')], claude))).toBe(
      "manifest.invalid",
    );
    expect(resolveModel([manifest('[model]\nprovider = "openai"')], codex)?.provider).toBe("openai");
  });

  it("a project narrows what the person allows and never widens it", () => {
    const mine = userConfig('[model]\nallow = ["claude-*"]');
    const allowed = (text: string) =>
      refusal(() => resolveModel([mine, manifest(`[model]\nname = "claude-x"\nallow = ${text}`)], claude));
    expect(allowed('["claude-x"]')).toMatchObject({ allow: ["claude-x"] });
    expect(allowed('["*"]')).toMatchObject({ allow: ["claude-*"] });
    expect(allowed('["claude-x", "gpt-*"]')).toMatchObject({ allow: ["claude-x"] });
    expect(refusal(() => resolveModel([mine, manifest('[model]\nallow = ["gpt-*"]')], claude))).toBe(
      "model.not_allowed",
    );
    expect(refusal(() => resolveModel([mine, parseFlags({ model: { name: "gpt-x" } })], claude))).toBe(
      "model.not_allowed",
    );
    const alias = manifest('[model]\naliases = { fast = "claude-haiku-4-5" }\nname = "fast"');
    expect(resolveModel([mine, alias], claude)).toMatchObject({
      name: "fast",
      aliases: { fast: "claude-haiku-4-5" },
    });
  });

  it("chosen for one agent is not meant for another", () => {
    const mine = userConfig('[agent]\nname = "claude"\n[model]\nname = "claude-haiku-4-5"');
    const typed = (name: string) => parseFlags({ agent: { name } });
    expect(resolveModel([mine, typed("claude")], claude)?.name).toBe("claude-haiku-4-5");
    expect(resolveModel([mine, typed("codex")], codex)).not.toHaveProperty("name");
    const general = userConfig('[model]\nname = "some-model"');
    expect(resolveModel([general, typed("codex")], codex)?.name).toBe("some-model");
  });
});

describe("the budget of a box", () => {
  const mine = userConfig("[budget.day]\nusd = 10\n[budget.run]\ntokens = 1000");

  it("has the limits of all layers", () => {
    expect(resolveBudget([mine, manifest("[budget.run]\ntokens = 5000\nusd = 0.1")])).toEqual([
      { scope: "run", layer: "user", tokens: 1000 },
      { scope: "run", layer: "project", tokens: 5000, microUsd: 100_000 },
      { scope: "day", layer: "user", microUsd: 10_000_000 },
    ]);
    expect(resolveBudget([])).toEqual([]);
  });

  it("what is typed replaces the project's, and not the person's", () => {
    const typed = parseFlags({ budget: { run: { tokens: 9000 } } });
    const project = manifest("[budget.run]\ntokens = 5000\nusd = 0.000001");
    expect(resolveBudget([mine, project, typed]).filter(({ scope }) => scope === "run")).toEqual([
      { scope: "run", layer: "user", tokens: 1000 },
      { scope: "run", layer: "project", microUsd: 1 },
      { scope: "run", layer: "flag", tokens: 9000 },
    ]);
  });

  it("counts in whole millionths, without the dust of floating point", () => {
    const microUsd = (usd: number) => resolveBudget([parseFlags({ budget: { box: { usd } } })])[0]?.microUsd;
    expect([0.1, 0.29, 1.1, 4.35, 1_000_000].map(microUsd)).toEqual([
      100_000, 290_000, 1_100_000, 4_350_000, 1_000_000_000_000,
    ]);
  });
});

describe("the MCP servers of a box", () => {
  it("come from all layers and from .mcp.json, which yields by name", () => {
    const json = JSON.stringify({
      mcpServers: {
        files: { command: "old" },
        docs: { type: "http", url: "https://mcp.example.org/mcp", headers: { A: "b" } },
        guest: { command: "guest" },
      },
    });
    const layers = [
      userConfig('[mcp.servers.mine]\ncommand = "mine"\nargs = ["x"]\nenv = { A = "1" }'),
      manifest('[mcp.servers.files]\ncommand = "new"'),
    ];
    expect(resolveMcp(layers, json)).toEqual([
      { transport: "stdio", name: "files", command: "new", args: [], env: {} },
      { transport: "http", name: "docs", url: "https://mcp.example.org/mcp", headers: { A: "b" } },
      { transport: "stdio", name: "guest", command: "guest", args: [], env: {}, isFound: true },
      { transport: "stdio", name: "mine", command: "mine", args: ["x"], env: { A: "1" } },
    ]);
    expect(resolveMcp([], undefined)).toEqual([]);
  });
});
