import { describe, expect, it } from "vitest";
import { systemClock } from "../../host/clock.ts";
import { waitFor } from "../../base/wait-for.ts";
import type { ModelGatewayOptions } from "./index.ts";
import { type Ask, openGatewayFixture, startFakeProvider } from "./model-gateway.fixture.ts";

const ask: Ask = { path: "/anthropic/v1/messages", body: { model: "m", max_tokens: 9, stream: true } };

async function openWorld(options: Partial<ModelGatewayOptions> = {}) {
  const provider = await startFakeProvider();
  const fixture = await openGatewayFixture(provider.url, options);
  return {
    provider,
    fixture,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

describe("a program that", () => {
  it("sends too much is told so, alone or together with others", async () => {
    await using world = await openWorld({ limits: { requestBytes: 10_000, requestBytesPerBox: 15_000 } });
    const body = (bytes: number) => ({ model: "m", max_tokens: 9, system: "x".repeat(bytes) });
    expect((await world.fixture.ask({ ...ask, body: body(9_000) })).status).toBe(200);
    const large = await world.fixture.ask({ ...ask, body: body(11_000) });
    expect(large.status).toBe(413);
    expect(JSON.parse(large.text)).toMatchObject({ error: { type: "request_too_large" } });
    world.provider.answer = () => undefined;
    const held = world.fixture.open({ ...ask, body: body(9_000) });
    held.catch(() => undefined);
    await waitFor("the second request", () => world.provider.seen[1]);
    expect((await world.fixture.ask({ ...ask, body: body(9_000) })).status).toBe(413);
    expect(world.fixture.refused.map(({ code }) => code)).toEqual(["input.too_large", "input.too_large"]);
  });

  it("sends more values, or deeper ones, than any request has is told so before they are parsed", async () => {
    await using world = await openWorld({ limits: { requestValues: 200, requestDepth: 10 } });
    const body = (system: string) => `{"model":"m","max_tokens":9,"system":${system}}`;
    expect((await world.fixture.ask({ ...ask, body: body(JSON.stringify("[{,".repeat(500))) })).status).toBe(
      200,
    );
    for (const system of [`[${"0,".repeat(300)}0]`, "[".repeat(20) + "]".repeat(20)])
      expect((await world.fixture.ask({ ...ask, body: body(system) })).status).toBe(413);
    expect(world.provider.seen).toHaveLength(1);
    expect(world.fixture.refused.map(({ code }) => code)).toEqual(["input.too_large", "input.too_large"]);
  });

  it("holds much together with others is refused, and what each always has is not", async () => {
    await using world = await openWorld({
      limits: { requestBytesTogether: 15_000, requestBytesAlways: 2_000 },
    });
    const body = (bytes: number) => ({ model: "m", max_tokens: 9, system: "x".repeat(bytes) });
    world.provider.answer = () => undefined;
    const held = world.fixture.open({ ...ask, body: body(14_000) });
    held.catch(() => undefined);
    await waitFor("the first request", () => world.provider.seen[0]);
    expect((await world.fixture.ask({ ...ask, body: body(9_000), from: "birch" })).status).toBe(413);
    const small = world.fixture.open({ ...ask, body: body(900), from: "birch" });
    small.catch(() => undefined);
    await waitFor("the small request", () => world.provider.seen[1]);
  });

  it("sends more than its share waits, and no other box does", async () => {
    const pace = { paceBytes: 1, paceBurstBytes: 10_000, paceAloneBytes: 0, paceTogetherBytes: 0 };
    const waiting: number[] = [];
    const clock = { ...systemClock, after: (ms: number) => (waiting.push(ms), () => undefined) };
    await using world = await openWorld({ limits: pace, clock });
    const body = { model: "m", max_tokens: 9, system: "x".repeat(6_000) };
    expect((await world.fixture.ask({ ...ask, body })).status).toBe(200);
    const second = world.fixture.open({ ...ask, body });
    second.catch(() => undefined);
    await waitFor("the wait", () => waiting[0]);
    expect(world.provider.seen).toHaveLength(1);
    expect((await world.fixture.ask({ ...ask, body, from: "birch" })).status).toBe(200);
    expect(waiting).toHaveLength(1);
    expect(waiting[0]).toBeGreaterThan(1_000_000);
  });

  const unreadable: readonly [title: string, ask: Ask][] = [
    ["nothing", { ...ask, body: "" }],
    ["no JSON", { ...ask, body: "{" }],
    ["a list", { ...ask, body: "[]" }],
    ["no model", { ...ask, body: {} }],
    ["a model that is no text", { ...ask, body: { model: 7 } }],
    ["an endless model", { ...ask, body: { model: "x".repeat(300) } }],
    ["something packed", { ...ask, headers: { "content-encoding": "gzip" } }],
  ];
  it.each(unreadable)("sends %s is told so", async (_, bad) => {
    await using world = await openWorld();
    const reply = await world.fixture.ask(bad);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain("model.bad_request");
    expect(world.provider.seen).toEqual([]);
    expect(world.fixture.refused).toHaveLength(1);
  });
});
