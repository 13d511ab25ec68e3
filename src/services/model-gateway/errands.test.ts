import { describe, expect, it } from "vitest";
import type { ModelApi } from "../../contract/model/api.ts";
import { refuseErrands } from "./errands.ts";
import { type Ask, openGatewayFixture, startFakeProvider } from "./model-gateway.fixture.ts";

const away = "https://attacker.test/?secret=1";
const picture = "data:image/png;base64,AAAA";
const user = (...content: unknown[]) => [{ role: "user", content }];
const answered = (output: unknown) => [{ type: "function_call_output", call_id: "1", output }];

/** Each with the same thing in a form that stays between the box and the model. */
const cases: readonly [string, ModelApi, object, object][] = [
  [
    "a picture",
    "anthropic",
    { messages: user({ type: "image", source: { type: "url", url: away } }) },
    { messages: user({ type: "image", source: { type: "base64", data: "AAAA" } }) },
  ],
  [
    "a picture in a tool's result",
    "anthropic",
    {
      messages: user({
        type: "tool_result",
        content: [{ type: "image", source: { type: "url", url: away } }],
      }),
    },
    { messages: user({ type: "tool_use", input: { source: { type: "url", url: away } } }) },
  ],
  [
    "an MCP server",
    "anthropic",
    { messages: [], mcp_servers: [{ type: "url", url: away, name: "x" }] },
    { messages: [], mcp_servers: [] },
  ],
  [
    "a page",
    "anthropic",
    { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] },
    { tools: [{ name: "web_fetch", input_schema: {} }] },
  ],
  [
    "a picture",
    "openai-responses",
    { input: user({ type: "input_image", image_url: away }) },
    { input: user({ type: "input_image", image_url: picture }, { type: "input_text", text: away }) },
  ],
  [
    "a picture in a tool's result",
    "openai-responses",
    { input: answered([{ type: "input_image", image_url: away }]) },
    { input: answered(`{"image_url":"${away}"}`) },
  ],
  [
    "a file",
    "openai-responses",
    { input: user({ type: "input_file", file_url: away }) },
    { input: user({ type: "input_file", file_data: picture }) },
  ],
  [
    "an MCP server",
    "openai-responses",
    { input: "x", tools: [{ type: "mcp", server_url: away, server_label: "x" }] },
    { input: "x", tools: [{ type: "function", name: "mcp" }] },
  ],
  [
    "a hosted shell with a network",
    "openai-responses",
    { tools: [{ type: "shell", environment: { network_policy: { type: "allowlist" } } }] },
    {
      tools: [
        { type: "shell", environment: { network_policy: { type: "disabled" } } },
        { type: "local_shell" },
      ],
    },
  ],
  [
    "a picture",
    "openai-chat",
    { messages: user({ type: "image_url", image_url: { url: away } }) },
    { messages: user({ type: "image_url", image_url: { url: picture } }) },
  ],
  [
    "a page",
    "gemini",
    { contents: [], tools: [{ url_context: {} }] },
    { contents: [], tools: [{ functionDeclarations: [] }] },
  ],
  [
    "a file",
    "gemini",
    { contents: { parts: { fileData: { fileUri: away } } } },
    { contents: [{ parts: [{ inlineData: { data: "AAAA" } }] }] },
  ],
];

describe("what a vendor would fetch for a box is refused", () => {
  it.each(cases)("%s, %s", (_, api, errand, harmless) => {
    expect(() => refuseErrands(api, { model: "m", ...errand })).toThrow(/would make the provider/);
    expect(() => refuseErrands(api, { model: "m", ...harmless })).not.toThrow();
  });

  it("before anything is sent, also where tokens are only counted", async () => {
    await using provider = await startFakeProvider();
    await using fixture = await openGatewayFixture(provider.url);
    const body = { model: "m", max_tokens: 9, messages: [] };
    const asks = ["/anthropic/v1/messages", "/anthropic/v1/messages/count_tokens"].map(
      (path): Ask => ({ path, body }),
    );
    for (const ask of asks) {
      const errand = { ...body, mcp_servers: [{ type: "url", url: away }] };
      expect(await fixture.ask({ ...ask, body: errand })).toMatchObject({ status: 400 });
    }
    expect(provider.seen).toEqual([]);
    for (const ask of asks) expect(await fixture.ask(ask)).toMatchObject({ status: 200 });
  });
});
