import { describe, expect, it } from "vitest";
import type { ModelApi } from "../../../contract/model/api.ts";
import { type Ask, openGatewayFixture, startFakeProvider } from "../model-gateway.fixture.ts";
import { away, remoteFetches } from "./remote-fetches.fixture.ts";
import { judgeBody } from "./judge-body.ts";

const judge = (api: ModelApi, body: object) => judgeBody(api, { model: "m", ...body });

describe("what a vendor would do for a box is refused", () => {
  it.each(remoteFetches)("$what, $api", ({ api, request, harmless, says = /would make the provider/ }) => {
    expect(() => judge(api, request)).toThrow(says);
    if (harmless !== undefined) expect(() => judge(api, harmless)).not.toThrow();
  });

  it("before anything is sent, also where tokens are only counted", async () => {
    await using provider = await startFakeProvider();
    await using fixture = await openGatewayFixture(provider.url);
    const body = { model: "m", max_tokens: 9, messages: [] };
    const asks = ["/anthropic/v1/messages", "/anthropic/v1/messages/count_tokens"].map(
      (path): Ask => ({ path, body }),
    );
    for (const ask of asks) {
      const request = { ...body, mcp_servers: [{ type: "url", url: away }] };
      expect(await fixture.ask({ ...ask, body: request })).toMatchObject({ status: 400 });
    }
    expect(provider.seen).toEqual([]);
    for (const ask of asks) expect(await fixture.ask(ask)).toMatchObject({ status: 200 });
  });

  it("says where, in the vendor's own shape, with what to do", async () => {
    await using provider = await startFakeProvider();
    await using fixture = await openGatewayFixture(provider.url);
    const source = { type: "url", url: away };
    const content = [{ type: "tool_result", tool_use_id: "1", content: [{ type: "document", source }] }];
    const { text } = await fixture.ask({
      path: "/anthropic/v1/messages",
      body: { model: "m", max_tokens: 9, messages: [{ role: "user", content }] },
    });
    expect(JSON.parse(text)).toEqual({
      type: "error",
      error: {
        type: "invalid_request_error",
        message:
          "The request would make the provider fetch something from an address (messages[0].content[0].content[0].source). That would go around the policy of the box: let a tool in the box fetch it, and send what it found. (model.bad_request)",
      },
    });
    expect(text).not.toContain(away);
    expect(fixture.refused).toMatchObject([{ code: "model.bad_request" }]);
  });
});

describe("what the gateway does not know", () => {
  const chat = (more: object) => judge("openai-chat", { messages: [], ...more });
  it("passes as a number, a switch or a word, as newer settings are", () => {
    for (const more of [
      { new_switch: true },
      { new_effort: "x-high" },
      { new_limits: { per_turn: 7, mode: "strict", stages: ["a", 1, null] } },
      { chat_template_kwargs: { enable_thinking: false } },
    ])
      expect(() => chat(more)).not.toThrow();
  });

  it("is refused as anything that could name a place, or something kept", () => {
    for (const more of [
      { new_field: away },
      { new_field: "files/abc" },
      { new_field: "attacker.test" },
      { new_field: { deep: [{ deeper: "10.0.0.1" }] } },
      { new_url: "metadata" },
      { settings: { remoteHost: "metadata" } },
      { enable_web_browsing: true },
      { assistant: "asst_1" },
      { new_options: { mcpConnector: "drive" } },
      { tools: [{ type: "new_tool" }] },
      { messages: [{ role: "user", content: [{ type: "new_part" }] }] },
    ])
      expect(() => chat(more)).toThrow(/does not know/);
    let deep: object = {};
    for (let i = 0; i < 10_000; i += 1) deep = { deep };
    expect(() => chat({ deep })).toThrow(/nested too deep/);
  });

  it.each([
    { api_key: "sk-other" },
    { apiKey: "sk-other" },
    { user_config: { apikey: "sk-other" } },
    { azure_ad_token: "other" },
    { aws_secret_access_key: "other" },
    { organization: "org-other" },
    { vertex_project: "other" },
    { preset: "dear" },
    { compound_custom: { models: { answering_model: "dear" } } },
    { context_window_fallback_dict: { m: "dear" } },
    { agent_reference: { name: "other" } },
    { engine: "dear" },
  ])("is refused where it could choose who pays, or what answers: %j", (more) => {
    for (const api of ["anthropic", "openai-responses", "openai-chat", "gemini"] as const)
      expect(() => judge(api, more)).toThrow(/does not know/);
    // The controls: the same names with what names nothing.
    expect(() =>
      chat({ return_token_ids: true, new_token: 7, multi_agent: false, per_model: null }),
    ).not.toThrow();
  });

  it("is refused where it is a known field in another spelling", () => {
    expect(() => chat({ Messages: [] })).toThrow(/unusual spelling/);
    expect(() => chat({ MODEL: "other" })).toThrow(/unusual spelling/);
    expect(() => judge("gemini", { Cached_Content: "x" })).toThrow(/unusual spelling/);
  });
});

it("what has not the standard price is named, wherever it stands", () => {
  const long = { type: "ephemeral", ttl: "1h" };
  const part = { type: "text", text: "x", cache_control: long };
  expect(judge("anthropic", { messages: [{ role: "user", content: [part] }] })).toEqual(["cache_ttl=1h"]);
  expect(judge("anthropic", { tools: [{ name: "x", input_schema: {}, cache_control: long }] })).toEqual([
    "cache_ttl=1h",
  ]);
  expect(judge("anthropic", { speed: "fast", inference_geo: "us", service_tier: "auto" })).toEqual([
    "speed=fast",
    "inference_geo=us",
  ]);
  expect(judge("openai-responses", { service_tier: "priority" })).toEqual(["service_tier=priority"]);
  expect(judge("openai-chat", { service_tier: "flex", modalities: ["text", "audio"] })).toEqual([
    "service_tier=flex",
    "audio",
  ]);
  expect(judge("gemini", { tools: [{ google_search: {} }], service_tier: "priority" })).toEqual([
    "web_search",
    "service_tier=priority",
  ]);
  expect(judge("anthropic", { speed: null, service_tier: "standard_only" })).toEqual([]);
});
