import { describe, expect, it } from "vitest";
import { type Ask, openGatewayFixture, startFakeProvider } from "./model-gateway.fixture.ts";

const ask: Ask = { path: "/anthropic/v1/messages", body: { model: "m", max_tokens: 9, stream: true } };

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

describe("admission", () => {
  it("says no in each vendor's words, with a time to come back", async () => {
    await using world = await openWorld();
    world.fixture.admit = async () => ({
      outcome: "refused",
      code: "budget.exhausted",
      message: "The budget of this run is used up.",
    });
    const paths = {
      "/anthropic/v1/messages": { type: "error", error: { type: "rate_limit_error" } },
      "/openai/v1/responses": { error: { type: "rate_limit_error", code: "budget.exhausted" } },
      "/openai/v1/chat/completions": { error: { code: "budget.exhausted" } },
      "/gemini/v1/models/m:generateContent": { error: { code: 429, status: "RESOURCE_EXHAUSTED" } },
    };
    for (const [path, expected] of Object.entries(paths)) {
      const reply = await world.fixture.ask({ ...ask, path });
      expect(reply).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
      expect(JSON.parse(reply.text)).toMatchObject(expected);
      expect(reply.text).toContain("The budget of this run is used up. (budget.exhausted)");
    }
    expect(world.provider.seen).toEqual([]);
    expect(world.fixture.settled).toEqual([]);
    expect(world.fixture.refused).toEqual([]);
  });

  it("that breaks is a no", async () => {
    await using world = await openWorld();
    world.fixture.admit = async () => {
      throw new TypeError("the store is gone");
    };
    expect((await world.fixture.ask(ask)).status).toBe(502);
    expect(world.provider.seen).toEqual([]);
  });

  it("is asked with an estimate, and can lower the answer", async () => {
    await using world = await openWorld();
    world.fixture.admit = async () => ({ outcome: "admitted", ticket: "t", maxOutput: 5 });
    await world.fixture.ask(ask);
    await world.fixture.ask({ path: "/openai/v1/responses", body: { model: "m" } });
    const length = JSON.stringify(ask.body).length;
    expect(world.fixture.asked.map(({ estimate }) => estimate)).toEqual([
      { input: Math.ceil(length / 4), output: 9 },
      { input: 4, output: 16_384, longest: 131_072 },
    ]);
    expect(world.provider.seen.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { max_tokens: 5 },
      { max_output_tokens: 5 },
    ]);
  });

  it("reserves the longest answer where a request does not say, for each one it asks for", async () => {
    await using world = await openWorld();
    const path = "/openai/v1/chat/completions";
    // There is room for more than is usual, but not for all that could come: then the usual is all it gets.
    world.fixture.admit = async () => ({ outcome: "admitted", ticket: "t", maxOutput: 500_000 });
    await world.fixture.ask({ path, body: { model: "m", n: 4 } });
    await world.fixture.ask({ path, body: { model: "m" } });
    expect(world.fixture.asked.map(({ estimate }) => estimate)).toMatchObject([
      { output: 4 * 16_384, longest: 4 * 131_072 },
      { output: 16_384, longest: 131_072 },
    ]);
    const sent = world.provider.seen.map(({ body }) => JSON.parse(body) as unknown);
    expect(sent).toEqual([{ model: "m", n: 4, max_tokens: 16_384 }, { model: "m" }]);
  });

  it("counts what the vendor remembers as input", async () => {
    await using world = await openWorld();
    const path = "/openai/v1/responses";
    await world.fixture.ask({ path, body: { model: "m", input: "x" } });
    await world.fixture.ask({ path, body: { model: "m", previous_response_id: null } });
    await world.fixture.ask({ path, body: { model: "m", previous_response_id: "r" } });
    // The provider said 3 in and 5 out.
    expect(world.fixture.asked.map(({ estimate }) => estimate.input)).toEqual([7, 11, 10 + 8]);
  });
});
