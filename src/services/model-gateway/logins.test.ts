import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { AgentBoxError } from "../../base/errors.ts";
import { placeholderKey } from "../../contract/model/api.ts";
import type { ProviderKey } from "../../ports/model-gateway.ts";
import { type Ask, openGatewayFixture, startFakeProvider } from "./model-gateway.fixture.ts";

const token = "tok-0123456789abcdef-login";
const account = "account-1";
const ask = (more: Partial<Ask> = {}): Ask => ({
  path: "/anthropic/v1/messages",
  body: { model: "m", max_tokens: 9 },
  ...more,
});

async function openWorld(login: ProviderKey) {
  const provider = await startFakeProvider();
  const fixture = await openGatewayFixture(provider.url);
  fixture.keys = { TEST_KEY: login };
  return {
    provider,
    fixture,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

describe("a login of Anthropic", () => {
  const login: ProviderKey = { value: token, form: "login" };

  it("is a bearer, and is said to be one beside the program's own betas", async () => {
    await using world = await openWorld(login);
    const betas = { "anthropic-beta": ["claude-code-20250219, files-api-2025-04-14", "effort-2025-11-24"] };
    expect((await world.fixture.ask(ask({ headers: betas }))).status).toBe(200);
    expect((await world.fixture.ask(ask())).status).toBe(200);
    const [first, second] = world.provider.seen;
    expect(first!.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      "anthropic-beta": "claude-code-20250219,effort-2025-11-24,oauth-2025-04-20",
    });
    expect(first!.headers).not.toHaveProperty("x-api-key");
    expect(second!.headers).toMatchObject({ "anthropic-beta": "oauth-2025-04-20" });
    const said = ask({ headers: { "anthropic-beta": "oauth-2025-04-20,effort-2025-11-24" } });
    await world.fixture.ask(said);
    expect(world.provider.seen[2]!.headers).toMatchObject({
      "anthropic-beta": "oauth-2025-04-20,effort-2025-11-24",
    });
  });

  it("is known by its form when it is kept like a key; a key has no such beta", async () => {
    await using world = await openWorld({ value: "sk-ant-oat01-abc", form: "key" });
    await world.fixture.ask(ask());
    expect(world.provider.seen[0]!.headers).toMatchObject({
      authorization: "Bearer sk-ant-oat01-abc",
      "anthropic-beta": "oauth-2025-04-20",
    });
    world.fixture.keys = { TEST_KEY: "sk-ant-api03-abc" };
    await world.fixture.ask(ask());
    expect(world.provider.seen[1]!.headers).toMatchObject({ "x-api-key": "sk-ant-api03-abc" });
    expect(world.provider.seen[1]!.headers).not.toHaveProperty("anthropic-beta");
  });

  it("that the vendor repeats is masked, and is in no log", async () => {
    await using world = await openWorld(login);
    world.provider.answer = (request, response) => {
      response.writeHead(401, { "www-authenticate": `Bearer error="${token}"` });
      response.end(JSON.stringify({ error: { message: String(request.headers.authorization) } }));
    };
    const reply = await world.fixture.ask(ask());
    expect(reply.text).toContain(placeholderKey);
    expect(JSON.stringify([reply, world.fixture.logged, world.fixture.settled])).not.toContain(token);
  });
});

describe("a login of ChatGPT", () => {
  const loginAt = (url: string): ProviderKey => ({
    value: token,
    form: "login",
    headers: { "chatgpt-account-id": account },
    baseUrl: `${url}/backend-api/codex`,
  });

  it("goes to its own address with the account, whatever account the box names", async () => {
    await using world = await openWorld(loginAt("http://127.0.0.1:1"));
    await using vendor = await startFakeProvider();
    world.fixture.keys = { TEST_KEY: loginAt(vendor.url) };
    const headers = { "chatgpt-account-id": "somebody-else", originator: "codex_cli_rs" };
    const responses = ask({ path: "/openai/v1/responses", headers });
    expect((await world.fixture.ask(responses)).status).toBe(200);
    expect((await world.fixture.ask({ path: "/openai/v1/models?client_version=1.0" })).status).toBe(200);
    expect(vendor.seen.map(({ url }) => url)).toEqual([
      "/backend-api/codex/responses",
      "/backend-api/codex/models?client_version=1.0",
    ]);
    for (const { headers: sent } of vendor.seen)
      expect(sent).toMatchObject({ authorization: `Bearer ${token}`, "chatgpt-account-id": account });
    expect(vendor.seen[0]!.headers).toMatchObject({ originator: "codex_cli_rs" });
    // Where keys are taken, nothing of it arrived.
    expect(world.provider.seen).toEqual([]);
  });

  it("is used for nothing that is not there", async () => {
    await using world = await openWorld(loginAt("http://127.0.0.1:1"));
    const chat = ask({ path: "/openai/v1/chat/completions" });
    expect(await world.fixture.ask(chat)).toMatchObject({ status: 400 });
    expect(world.fixture.refused.at(-1)?.code).toBe("model.bad_request");
    expect(world.provider.seen).toEqual([]);
    // The control: with a key the same request is answered.
    world.fixture.keys = { TEST_KEY: "sk-real" };
    expect(await world.fixture.ask(chat)).toMatchObject({ status: 200 });
  });

  it("that changed or was taken back ends a WebSocket with the next request on it", async () => {
    await using world = await openWorld(loginAt("http://127.0.0.1:1"));
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    const seen: { url: string; authorization: string | undefined; frames: string[] }[] = [];
    server.on("connection", (socket, request) => {
      const frames: string[] = [];
      seen.push({ url: request.url ?? "", authorization: request.headers.authorization, frames });
      socket.on("message", (data: Buffer) => {
        frames.push(data.toString());
        const usage = { input_tokens: 1, output_tokens: 1 };
        socket.send(JSON.stringify({ type: "response.completed", response: { status: "completed", usage } }));
      });
    });
    await once(server, "listening");
    const login = loginAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    world.fixture.keys = { TEST_KEY: login };
    const client = new WebSocket(`ws://127.0.0.1:${world.fixture.port}/openai/v1/responses`, {
      headers: { authorization: `Bearer ${placeholderKey}` },
    });
    await once(client, "open");
    const frame = JSON.stringify({ type: "response.create", model: "m", input: "hi" });
    client.send(frame);
    await once(client, "message");
    expect(seen).toMatchObject([
      { url: "/backend-api/codex/responses", authorization: `Bearer ${token}`, frames: [expect.any(String)] },
    ]);
    world.fixture.keys = { TEST_KEY: { ...login, value: "another-token" } };
    const closed = once(client, "close");
    client.send(frame);
    expect((await closed)[0]).toBe(1001);
    expect(seen[0]!.frames).toHaveLength(1);
    expect(world.fixture.asked).toHaveLength(1);
    server.close();
  });
});

describe("a key that cannot be had", () => {
  it.each(["ttt\nlines", "nnn\0", "üüü", "qqq zzz"])("or cannot be sent (%j) is a refusal", async (value) => {
    await using world = await openWorld({ value, form: "key" });
    const reply = await world.fixture.ask(ask());
    expect(reply.status).toBe(401);
    expect(reply.text).not.toContain(value.slice(0, 3));
    expect(world.fixture.refused.at(-1)?.code).toBe("model.no_key");
    expect(world.provider.seen).toEqual([]);
    expect(world.fixture.asked).toEqual([]);
  });

  it("is a refusal too when nobody thought of the reason", async () => {
    await using provider = await startFakeProvider();
    const thrown = [new AgentBoxError("vault.locked", "The vault is locked."), new TypeError("secret tok-x")];
    await using fixture = await openGatewayFixture(provider.url, {
      keyOf: () => Promise.reject(thrown.shift()!),
    });
    expect((await fixture.ask(ask())).status).toBe(423);
    const odd = await fixture.ask(ask());
    expect(odd.status).toBeGreaterThanOrEqual(500);
    expect(odd.text).not.toContain("tok-x");
    expect(provider.seen).toEqual([]);
  });
});

describe("whoever gave the key", () => {
  it("is told of each request that leaves with it, and of no other", async () => {
    let sent = 0;
    await using world = await openWorld({ value: token, form: "login", sent: () => void (sent += 1) });
    await world.fixture.ask(ask());
    expect(sent).toBe(1);
    world.fixture.admit = async () => ({ outcome: "refused", code: "budget.exhausted", message: "No." });
    await world.fixture.ask(ask());
    await world.fixture.ask(ask({ path: "/anthropic/v1/files" }));
    expect(sent).toBe(1);
  });
});
