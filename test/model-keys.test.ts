import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentBoxError } from "../src/base/errors.ts";
import { type ModelProvider, builtInProviders } from "../src/contract/model/api.ts";
import { OAuthTokens } from "../src/contract/secret/connection.ts";
import { findModelKey } from "../src/core/agents/find-model-key.ts";
import type { Core } from "../src/core/context.ts";
import { keepLogin } from "../src/core/secrets/keep-login.ts";
import { grantSecret, revokeSecret } from "../src/core/secrets/keep-secrets.ts";
import { tokenKeeper } from "../src/core/secrets/token-keeper.ts";
import { systemClock, systemIds } from "../src/host/clock.ts";
import { silentLogger } from "../src/host/logger.ts";
import type { Connections } from "../src/ports/connections.ts";
import type { Vault } from "../src/ports/vault.ts";
import { openConnections } from "../src/services/connections/index.ts";
import { type TestHost, createOn, openTestCore, openTestHost } from "./support/core.ts";
import { memoryVault } from "./support/secrets.ts";

let host: TestHost;
let vault: Vault;
let connections: Connections;
let core: Core & AsyncDisposable;

beforeEach(async () => {
  host = await openTestHost();
  vault = memoryVault();
  connections = openConnections({
    keeper: tokenKeeper(() => core),
    clock: systemClock,
    logger: silentLogger,
    ids: systemIds,
  });
  core = await openTestCore(host, { vault, connections });
});
afterEach(async () => {
  await connections[Symbol.asyncDispose]();
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const vendor = (name: string): ModelProvider => builtInProviders.find((one) => one.name === name)!;
const keep = (name: string, value: string) =>
  vault.add({ name, kind: "text", source: { kind: "stored" }, value: Buffer.from(value) });
const base64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");

/** A running box whose record says that it is one of this agent. */
async function boxOf(agent: string, name: string = agent) {
  await createOn(core, { name });
  const box = await core.getBox(name);
  const spec = { ...box.spec, agent: { ...box.spec.agent, name: agent } };
  await core.commit({ update: { ...box, spec }, events: [] });
  return { name, incarnation: box.incarnation };
}

const refusal = (task: Promise<unknown>): Promise<AgentBoxError> =>
  task.then(
    () => expect.unreachable("it was not refused"),
    (error: unknown) => error as AgentBoxError,
  );

async function receipts() {
  await core.egressLog.flush();
  const records = await core.ports.store.listEgress({ secret: true, limit: 100 });
  return records.map(({ secret, host: to, isInjected, reason }) => ({ secret, to, isInjected, reason }));
}

const claudeLogin = (expiresAt: number) => ({
  claudeAiOauth: { accessToken: "at-1", refreshToken: "rt-1", expiresAt, scopes: ["user:inference"] },
});
const later = (): number => systemClock.nowMs() + 3_600_000;

describe("the key for a model", () => {
  it("is the one that is named, and otherwise the vendor's own secret before its variable", async () => {
    const box = await boxOf("shell");
    const variables = { ANTHROPIC_API_KEY: "from-the-host" };
    const model = { provider: "anthropic", allow: [], aliases: {}, providers: [...builtInProviders] };
    core.ports.modelKeys.remember(model, variables);
    const find = (provider: ModelProvider) => findModelKey(core, box, provider);
    expect(await find(vendor("anthropic"))).toMatchObject({ value: "from-the-host", form: "key" });
    await keep("anthropic", "from-the-vault\n");
    expect(await find(vendor("anthropic"))).toMatchObject({ value: "from-the-vault", form: "key" });
    await keep("team", "of-the-team");
    const named: ModelProvider = { name: "x", api: "openai", baseUrl: "https://x.test", keySecret: "team" };
    expect(await find(named)).toMatchObject({ value: "of-the-team" });
    await vault.remove("anthropic");
    expect(await find(vendor("anthropic"))).toMatchObject({ value: "from-the-host" });
  });

  it("goes to the vendor itself only, unless somebody has named it for another place", async () => {
    const box = await boxOf("shell");
    await keep("openai", "the-key");
    expect(await findModelKey(core, box, vendor("openai"))).toMatchObject({ value: "the-key" });
    const elsewhere = { name: "openai", api: "openai", baseUrl: "https://proxy.test" } as const;
    expect(await findModelKey(core, box, elsewhere)).toBeUndefined();
    const own = { ...vendor("openai"), keyVariable: "MY_OWN" };
    expect(await refusal(findModelKey(core, box, own))).toMatchObject({ code: "model.no_key" });
  });

  it("leaves a receipt when it is sent, with the place and without the value", async () => {
    const box = await boxOf("shell");
    await keep("openai", "the-key");
    const key = await findModelKey(core, box, vendor("openai"));
    expect(await receipts()).toEqual([]);
    key!.sent!();
    expect(await receipts()).toEqual([{ secret: "openai", to: "api.openai.com", isInjected: true }]);
    const events = await core.ports.store.listEvents({ type: "secret.used", limit: 10 });
    expect(events).toMatchObject([{ box: box.name, data: { secret: "openai", host: "api.openai.com" } }]);
    expect(JSON.stringify(await core.ports.store.listEvents({ limit: 1000 }))).not.toContain("the-key");
  });

  it("that cannot be had is a refusal with what to do, and a receipt of it", async () => {
    const box = await boxOf("shell");
    const named = (keySecret: string): ModelProvider => ({ ...vendor("openai"), keySecret });
    expect(await refusal(findModelKey(core, box, vendor("gemini")))).toMatchObject({
      code: "model.no_key",
      hint: expect.stringMatching(/GEMINI_API_KEY.*agentbox vault set gemini/),
    });
    expect(await refusal(findModelKey(core, box, named("absent")))).toMatchObject({
      code: "model.no_key",
      hint: "Save it: agentbox vault set absent",
    });
    await keep("openai", "the-key");
    vault.reveal = async () => {
      throw new AgentBoxError("vault.locked", "The vault is locked.");
    };
    expect(await refusal(findModelKey(core, box, vendor("openai")))).toMatchObject({
      code: "model.no_key",
      message: expect.stringContaining("the vault is locked"),
      hint: "Unlock it: agentbox vault unlock",
    });
    expect(await receipts()).toEqual([
      { secret: "absent", to: "api.openai.com", isInjected: false, reason: "secret_unavailable" },
      { secret: "openai", to: "api.openai.com", isInjected: false, reason: "secret_unavailable" },
    ]);
  });
});

describe("the login of an agent", () => {
  const grantTo = (agent: string) => grantSecret(core, { name: `login/${agent}`, scope: "agent", agent });

  it("is used by boxes of the agent when that was granted, and by no others", async () => {
    const [claude, other] = [await boxOf("claude"), await boxOf("codex")];
    await keepLogin(core, { agent: "claude", form: "file", value: base64(claudeLogin(later())) });
    expect(await refusal(findModelKey(core, claude, vendor("anthropic")))).toMatchObject({
      code: "model.no_key",
      hint: "Agree: agentbox vault grant login/claude --agent claude",
    });
    await grantTo("claude");
    const key = await findModelKey(core, claude, vendor("anthropic"));
    expect(key).toMatchObject({ value: "at-1", form: "login", headers: {}, baseUrl: undefined });
    for (const [box, provider] of [
      [other, "anthropic"],
      [claude, "openai"],
      [{ ...claude, incarnation: "an-older-one" }, "anthropic"],
    ] as const)
      expect(await refusal(findModelKey(core, box, vendor(provider)))).toMatchObject({
        code: "model.no_key",
      });
    // At another place than the vendor's a login goes nowhere by itself.
    const elsewhere = { ...vendor("anthropic"), baseUrl: "https://proxy.test" };
    expect(await refusal(findModelKey(core, claude, elsewhere))).toMatchObject({ code: "model.no_key" });
    await revokeSecret(core, { name: "login/claude", agent: "claude" });
    expect(await refusal(findModelKey(core, claude, vendor("anthropic")))).toMatchObject({
      code: "model.no_key",
    });
  });

  it("of ChatGPT has its own address and its account", async () => {
    const box = await boxOf("codex");
    const tokens = { access_token: "at-2", refresh_token: "rt-2", account_id: "acc-1" };
    await keepLogin(core, { agent: "codex", form: "file", value: base64({ tokens }) });
    await grantTo("codex");
    const key = await findModelKey(core, box, vendor("openai"));
    expect(key).toMatchObject({
      value: "at-2",
      form: "login",
      headers: { "chatgpt-account-id": "acc-1" },
      baseUrl: "https://chatgpt.com/backend-api/codex",
    });
    key!.sent!();
    expect(await receipts()).toContainEqual({ secret: "login/codex", to: "chatgpt.com", isInjected: true });
  });

  it("comes before a key, and a key is not used silently in its place when it fails", async () => {
    const box = await boxOf("claude");
    await keep("anthropic", "the-key");
    await keepLogin(core, { agent: "claude", form: "file", value: base64(claudeLogin(1)) });
    expect(await findModelKey(core, box, vendor("anthropic"))).toMatchObject({ value: "the-key" });
    await grantTo("claude");
    const tokens = OAuthTokens.parse(JSON.parse((await vault.reveal("login/claude")).bytes.toString()));
    const unreachable = { ...tokens, tokenEndpoint: "http://127.0.0.1:1/token" };
    await vault.rotate("login/claude", Buffer.from(JSON.stringify(unreachable)), 0);
    const failed = await refusal(findModelKey(core, box, vendor("anthropic")));
    expect(failed).toMatchObject({ code: "model.no_key" });
    expect(`${failed.message} ${failed.hint} ${JSON.stringify(failed.facts)}`).not.toMatch(/at-1|rt-1/);
  });

  it("may be a token that was made for it; what cannot be one is refused, without repeating it", async () => {
    const box = await boxOf("claude");
    await keepLogin(core, { agent: "claude", form: "token", value: base64("sk-ant-oat01-0123456789\n") });
    await grantTo("claude");
    expect(await findModelKey(core, box, vendor("anthropic"))).toMatchObject({
      value: "sk-ant-oat01-0123456789",
      form: "login",
    });
    for (const [agent, form, value] of [
      ["claude", "token", "two words of a token"],
      ["claude", "file", "{not json zzz"],
      ["codex", "token", "zzz-0123456789abcdef"],
      ["gemini", "file", '{"access_token":"zzz"}'],
      ["copilot", "file", "{}"],
      ["nobody", "file", "{}"],
      ["__proto__", "file", "{}"],
    ] as const) {
      const refused = await refusal(keepLogin(core, { agent, form, value: base64(value) }));
      expect(refused.code, agent).toMatch(/^(?:secret|input)\.invalid$/);
      expect(`${refused.message} ${refused.hint}`).not.toContain("zzz");
    }
  });

  it("is refreshed once when ten boxes need it at the same moment", async () => {
    let refreshes = 0;
    const server = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        refreshes += 1;
        response.setHeader("content-type", "application/json");
        response.end(
          JSON.stringify({
            access_token: `new-${refreshes}`,
            refresh_token: `rt-new-${refreshes}`,
            token_type: "bearer",
            expires_in: 3600,
          }),
        );
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const tokenEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
    await keepLogin(core, { agent: "claude", form: "file", value: base64(claudeLogin(1)) });
    const stale = OAuthTokens.parse(JSON.parse((await vault.reveal("login/claude")).bytes.toString()));
    await vault.rotate("login/claude", Buffer.from(JSON.stringify({ ...stale, tokenEndpoint })), 0);
    await grantTo("claude");
    const boxes = await Promise.all(Array.from({ length: 10 }, (_, i) => boxOf("claude", `worker-${i}`)));
    const keys = await Promise.all(boxes.map((box) => findModelKey(core, box, vendor("anthropic"))));
    expect(keys.map((key) => key?.value)).toEqual(keys.map(() => "new-1"));
    expect(refreshes).toBe(1);
    const kept = JSON.parse((await vault.reveal("login/claude")).bytes.toString()) as OAuthTokens;
    expect(kept).toMatchObject({ accessToken: "new-1", refreshToken: "rt-new-1" });
    server.close();
  });
});
