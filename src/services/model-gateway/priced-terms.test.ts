import { expect, it } from "vitest";
import { anthropic } from "./anthropic.ts";
import { openGatewayFixture, startFakeProvider } from "./model-gateway.fixture.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";

it("what a request asks for beyond the standard price reaches whoever keeps the budget, and so does the answer's word", async () => {
  await using provider = await startFakeProvider((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        type: "message",
        stop_reason: "end_turn",
        usage: { input_tokens: 3, output_tokens: 5, speed: "fast", service_tier: "priority" },
      }),
    );
  });
  await using fixture = await openGatewayFixture(provider.url);
  const body = { model: "m", max_tokens: 9, messages: [], speed: "fast" };
  expect((await fixture.ask({ path: "/anthropic/v1/messages", body })).status).toBe(200);
  expect(fixture.asked).toMatchObject([{ terms: ["speed=fast"] }]);
  expect(fixture.settled).toMatchObject([{ outcome: { terms: { speed: "fast" } } }]);
});

it("each vendor says it in its own way", () => {
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    inference_geo: "us",
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 7 },
  };
  expect(anthropic.learn({}, { type: "message_start", message: { usage } }).terms).toEqual({
    inference_geo: "us",
    cache_ttl: "1h",
  });
  const counted = { input_tokens: 1, output_tokens: 1 };
  const response = { status: "completed", service_tier: "priority", usage: counted };
  expect(openAiResponses.learn({}, { type: "response.completed", response }).terms).toEqual({
    service_tier: "priority",
  });
  const chunk = { choices: [], service_tier: "default", usage: { prompt_tokens: 1, completion_tokens: 1 } };
  expect(openAiChat.learn({}, chunk).terms).toEqual({ service_tier: "default" });
});

it("what OpenAI writes to its cache is counted as written", () => {
  const details = { cached_tokens: 2, cache_write_tokens: 5 };
  const written = { input: 9, cached: 2, cacheWrite: 5 };
  const responses = { input_tokens: 9, output_tokens: 1, input_tokens_details: details };
  expect(openAiResponses.learn({}, { response: { usage: responses } }).usage).toMatchObject(written);
  const chat = { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: details };
  expect(openAiChat.learn({}, { usage: chat }).usage).toMatchObject(written);
});

it("a model that is named by an address is refused: some servers would load it from there", async () => {
  await using provider = await startFakeProvider();
  await using fixture = await openGatewayFixture(provider.url);
  const ask = (model: string) =>
    fixture.ask({ path: "/openai/v1/chat/completions", body: { model, messages: [] } });
  expect((await ask("hf.co/org/model:q4")).status).toBe(200);
  expect((await ask("https://attacker.test/model.gguf")).status).toBe(400);
  expect(provider.seen).toHaveLength(1);
});

it("an item that only names what was said before counts for all of it", () => {
  const isContinued = (input: unknown) => openAiResponses.read({ model: "m", input }, "").isContinued;
  expect(isContinued([{ type: "item_reference", id: "1" }])).toBe(true);
  expect(isContinued([{ id: "1" }])).toBe(true);
  expect(
    isContinued([
      { role: "user", content: "c" },
      { type: "reasoning", id: "1", summary: [] },
    ]),
  ).toBe(false);
});
