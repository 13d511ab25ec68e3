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
