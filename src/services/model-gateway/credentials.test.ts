import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { placeholderKey } from "../../contract/model/api.ts";
import {
  type Ask,
  type FakeProvider,
  type GatewayFixture,
  box,
  openGatewayFixture,
  providersAt,
  realKey,
  specFor,
  startFakeProvider,
} from "./model-gateway.fixture.ts";

const foreignKey = "sk-foreign-abcdef";
const ask = (more: Partial<Ask> = {}): Ask => ({
  path: "/anthropic/v1/messages",
  body: { model: "m", max_tokens: 9 },
  headers: {},
  ...more,
});

async function openWorld() {
  const provider = await startFakeProvider();
  const fixture = await openGatewayFixture(provider.url);
  return {
    provider,
    fixture,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** Nothing reached the provider, nothing was admitted, and the listener is told why. */
function expectRefused(world: { provider: FakeProvider; fixture: GatewayFixture }, code: string): void {
  expect(world.fixture.refused.at(-1)?.code).toBe(code);
  expect(world.fixture.asked).toEqual([]);
  expect(world.provider.seen).toEqual([]);
}

const foreign: readonly [where: string, ask: Ask][] = [
  ["Authorization", ask({ headers: { authorization: `Bearer ${foreignKey}` } })],
  ["Basic", ask({ headers: { authorization: "Basic Zm9vOmJhcg==" } })],
  [
    "two in one Authorization",
    ask({ headers: { authorization: `Bearer ${placeholderKey}, Bearer ${foreignKey}` } }),
  ],
  ["x-api-key", ask({ headers: { "x-api-key": foreignKey } })],
  ["x-api-key, twice", ask({ headers: { "x-api-key": [placeholderKey, foreignKey] } })],
  ["x-goog-api-key", ask({ headers: { "x-goog-api-key": foreignKey } })],
  ["api-key", ask({ headers: { "API-Key": foreignKey } })],
  ["a cookie", ask({ headers: { cookie: `session=${foreignKey}` } })],
  ["Proxy-Authorization", ask({ headers: { "proxy-authorization": `Bearer ${foreignKey}` } })],
  ["?key=", ask({ path: `/gemini/v1beta/models/m:generateContent?key=${foreignKey}` })],
  [
    "?key=, after the placeholder",
    ask({ path: `/gemini/v1beta/models?key=${placeholderKey}&KEY=${foreignKey}` }),
  ],
  ["x_api_key", ask({ headers: { x_api_key: foreignKey } })],
  ["?access_token=", ask({ path: `/gemini/v1beta/models/m:generateContent?access_token=${foreignKey}` })],
];

describe("keys", () => {
  it("are put in by the gateway, and only the provider sees them", async () => {
    await using world = await openWorld();
    const ways: Ask[] = [
      ask({ headers: { "x-api-key": placeholderKey, "X-App": "1", "openai-organization": "org-1" } }),
      ask({ path: "/openai/v1/chat/completions" }),
      ask({
        path: `/gemini/v1beta/models/m:generateContent?key=${placeholderKey}`,
        headers: { "x-goog-api-key": placeholderKey },
      }),
    ];
    world.provider.answer = (_, response) => {
      response.setHeader("set-cookie", "a=b");
      response.setHeader("x-echo", `Bearer ${realKey}`);
      response.setHeader("x-request-id", "r1");
      response.end("{}");
    };
    for (const way of ways) {
      const reply = await world.fixture.ask(way);
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({ "x-request-id": "r1" });
      expect(reply.headers["set-cookie"]).toBeUndefined();
      expect(JSON.stringify(reply)).not.toContain(realKey);
    }
    const [first, second, third] = world.provider.seen;
    expect(first!.headers).toMatchObject({
      "x-api-key": realKey,
      "accept-encoding": "identity",
      "x-app": "1",
    });
    expect(first!.headers["authorization"]).toBeUndefined();
    expect(first!.headers["openai-organization"]).toBeUndefined();
    expect(second!.headers).toMatchObject({ authorization: `Bearer ${realKey}` });
    expect(third!.headers).toMatchObject({ "x-goog-api-key": realKey });
    expect(third!.url).toBe("/v1beta/models/m:generateContent");
    expect(JSON.stringify(world.provider.seen)).not.toContain(placeholderKey);
    expect(JSON.stringify(world.fixture.logged)).not.toContain(realKey);
  });

  it("of a login are sent as such, and a provider without a key gets none", async () => {
    await using world = await openWorld();
    world.fixture.keys = { TEST_KEY: "sk-ant-oat01-x" };
    await world.fixture.ask(ask());
    expect(world.provider.seen[0]!.headers).toMatchObject({ authorization: "Bearer sk-ant-oat01-x" });
    const local = { name: "local", api: "openai" as const, baseUrl: `${world.provider.url}/api/` };
    world.fixture.setSpec({ providers: [local] });
    await world.fixture.ask(ask({ path: "/local/v1/chat/completions" }));
    expect(world.provider.seen[1]).toMatchObject({ url: "/api/v1/chat/completions" });
    expect(world.provider.seen[1]!.headers["authorization"]).toBeUndefined();
  });

  it.each(foreign)("of others are refused: %s", async (_, foreignAsk) => {
    await using world = await openWorld();
    const reply = await world.fixture.ask(foreignAsk);
    expect(reply.status).toBe(401);
    expect(reply.text).toContain("model.foreign_key");
    expect(reply.text).not.toContain(foreignKey);
    expectRefused(world, "model.foreign_key");
    expect(JSON.stringify(world.fixture.refused)).not.toContain(foreignKey);
  });

  it("of others are refused on WebSockets too", async () => {
    await using world = await openWorld();
    const open = async (headers: Record<string, string>, protocols: string[] = []) => {
      const socket = new WebSocket(`ws://127.0.0.1:${world.fixture.port}/openai/v1/responses`, protocols, {
        headers,
      });
      socket.on("error", () => undefined);
      const status = await new Promise((resolve) =>
        socket.once("unexpected-response", (_, answer) => resolve(answer.statusCode)),
      );
      socket.terminate();
      return status;
    };
    expect(await open({ authorization: `Bearer ${foreignKey}` })).toBe(401);
    expect(await open({}, ["realtime", `openai-insecure-api-key.${foreignKey}`])).toBe(401);
    expectRefused(world, "model.foreign_key");
    // The control: with the placeholder it is the provider that answers, which knows no WebSockets.
    expect(await open({ authorization: `Bearer ${placeholderKey}` })).not.toBe(401);
    expect(world.fixture.refused).toHaveLength(3);
    expect(world.fixture.refused[2]!.code).toBe("model.unavailable");
  });

  it("that the host does not have are named, not invented", async () => {
    await using world = await openWorld();
    world.fixture.keys = {};
    const reply = await world.fixture.ask(ask());
    expect(reply.status).toBe(401);
    expect(reply.text).toContain("TEST_KEY");
    expectRefused(world, "model.no_key");
  });

  it("that a vendor repeats in an error are masked", async () => {
    await using world = await openWorld();
    world.provider.answer = (_, response) => {
      response.writeHead(401, { "content-type": "application/json", "www-authenticate": `x ${realKey}` });
      response.end(
        JSON.stringify({ type: "error", error: { type: "authentication_error", message: realKey } }),
      );
    };
    const reply = await world.fixture.ask(ask());
    expect(reply.status).toBe(401);
    expect(JSON.parse(reply.text)).toMatchObject({
      error: { type: "authentication_error", message: placeholderKey },
    });
    expect(JSON.stringify([reply, world.fixture.logged])).not.toContain(realKey);
    expect(world.fixture.settled).toMatchObject([
      { outcome: { status: 401, error: "authentication_error", hasAnswer: false } },
    ]);
  });
});

describe("what a provider may be asked", () => {
  const passed: readonly [method: string, path: string][] = [
    ["HEAD", "/anthropic"],
    ["HEAD", "/anthropic/"],
    ["GET", "/anthropic/v1/models"],
    ["GET", "/openai/v1/models/gpt-5.5"],
    ["GET", "/gemini/v1beta/models?pageSize=5"],
  ];
  it.each(passed)("%s %s is passed on and not metered", async (method, path) => {
    await using world = await openWorld();
    expect((await world.fixture.ask({ method, path })).status).toBe(200);
    expect(world.provider.seen).toHaveLength(1);
    expect(world.fixture.asked).toEqual([]);
    expect(world.fixture.refused).toEqual([]);
  });

  it("counts of tokens are passed on, for models that are allowed", async () => {
    await using world = await openWorld();
    world.fixture.setSpec({ allow: ["good"], aliases: { fast: "good" } });
    const count = (model: string) =>
      world.fixture.ask(ask({ path: "/anthropic/v1/messages/count_tokens", body: { model } }));
    expect((await count("fast")).status).toBe(200);
    expect(world.provider.seen[0]!.body).toBe('{"model":"good"}');
    expect((await count("bad")).status).toBe(403);
    expect(world.fixture.asked).toEqual([]);
  });

  const refused: readonly [method: string, path: string][] = [
    ["POST", "/anthropic/v1/files"],
    ["GET", "/anthropic/v1/files"],
    ["POST", "/anthropic/v1/messages/batches"],
    ["GET", "/anthropic/v1/organizations/users"],
    ["DELETE", "/openai/v1/models/m"],
    ["PUT", "/openai/v1/responses"],
    ["POST", "/openai/v1/files"],
    ["GET", "/openai/v1/responses/resp_1"],
    ["POST", "/gemini/v1beta/cachedContents"],
    ["POST", "/gemini/upload/v1beta/files"],
    ["POST", "/openai/v1/messages"],
    ["POST", "/anthropic/../openai/v1/chat/completions"],
    ["POST", "/anthropic/%2e%2e/openai/v1/chat/completions"],
    ["POST", "/anthropic/v1%2fmessages"],
    ["POST", "/anthropic//v1/messages"],
    ["POST", "/anthropic/v1/messages/"],
    ["POST", "/anthropic/v1\\messages"],
    ["POST", "/anthropic/v1/messages;x"],
    ["POST", "/gemini/v1beta/models/a/../b:generateContent"],
    ["POST", "/anthropic/v1/messages?upload=1"],
    ["GET", "/gemini/v1beta/models?alt=%0d%0ax"],
  ];
  it.each(refused)("%s %s is refused", async (method, path) => {
    await using world = await openWorld();
    const reply = await world.fixture.ask({
      method,
      path,
      ...(method === "GET" ? {} : { body: { model: "m" } }),
    });
    expect(reply.status).toBe(400);
    expectRefused(world, "model.bad_request");
  });

  const unknown = [
    "/",
    "//anthropic/v1/messages",
    "/nobody/v1/messages",
    "/%61nthropic/v1/messages",
    "/../anthropic/v1/messages",
    "http://127.0.0.1/anthropic/v1/messages",
    "*",
  ];
  it.each(unknown)("%s leads to no provider", async (path) => {
    await using world = await openWorld();
    const reply = await world.fixture.ask({ path, body: { model: "m" } });
    expect(reply.status).toBe(404);
    expect(reply.text).toContain("anthropic, openai, gemini");
    expectRefused(world, "model.unknown_provider");
  });

  it("a box that nobody told the gateway about gets nothing, nor does an older box of the same name", async () => {
    await using world = await openWorld();
    expect((await world.fixture.ask(ask())).status).toBe(200);
    world.fixture.gateway.setBox({ ...box, incarnation: "i2" }, specFor(world.provider.url));
    expect((await world.fixture.ask(ask())).status).toBe(404);
    world.fixture.gateway.drop(box.name);
    expect((await world.fixture.ask(ask())).status).toBe(404);
    expect(world.provider.seen).toHaveLength(1);
  });

  it("methods and addresses in other headers change nothing", async () => {
    await using world = await openWorld();
    const headers = {
      "x-http-method-override": "DELETE",
      "x-original-url": "/v1/files",
      "x-forwarded-host": "evil.example.org",
      connection: "close, x-secret",
      "x-secret": "1",
    };
    await world.fixture.ask(ask({ headers }));
    expect(Object.keys(world.provider.seen[0]!.headers).toSorted()).toEqual([
      "accept-encoding",
      "connection",
      "content-length",
      "content-type",
      "host",
      "x-api-key",
    ]);
  });

  it("a second name for the same thing in the request does not get past", async () => {
    await using world = await openWorld();
    world.fixture.setSpec({ allow: ["good"] });
    const twice = await world.fixture.ask(ask({ body: '{"model":"bad","max_tokens":9,"model":"good"}' }));
    expect(twice.status).toBe(200);
    expect(world.provider.seen[0]!.body).toBe('{"model":"good","max_tokens":9}');
    await world.fixture.ask(
      ask({
        path: "/gemini/v1beta/models/good:generateContent",
        body: { model: "models/bad", contents: [] },
      }),
    );
    expect(world.provider.seen[1]!.body).toBe('{"contents":[]}');
    const fallback = ask({ path: "/openai/v1/chat/completions", body: { model: "good", models: ["bad"] } });
    expect((await world.fixture.ask(fallback)).status).toBe(400);
    const later = ask({ path: "/openai/v1/responses", body: { model: "good", background: true } });
    expect((await world.fixture.ask(later)).status).toBe(400);
    expect(world.provider.seen).toHaveLength(2);
  });

  it("providers of one API do not answer for another's", async () => {
    await using world = await openWorld();
    world.fixture.setSpec({ providers: providersAt(world.provider.url, ["openai"]) });
    expect((await world.fixture.ask(ask({ path: "/openai/v1/responses" }))).status).toBe(200);
    expect((await world.fixture.ask(ask())).status).toBe(404);
  });
});
