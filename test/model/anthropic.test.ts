import { describe, expect, it } from "vitest";
import { asObject, asText } from "./json.ts";
import { dataOf, post, postForEvents, postForJson } from "./plain-client.ts";
import { startScriptedModel } from "./scripted-model.ts";

const usage = { input: 11, output: 7, cached: 5, cacheWrite: 3, reasoning: 2 };
const step = {
  thinking: "Let me see.",
  text: "I write a file with a long enough text.",
  calls: [{ tool: "Write", arguments: { file_path: "/w/a.txt", content: "a\n" } }],
  usage,
};
const question = { model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "go" }] };
const allUsage = {
  input_tokens: 11,
  output_tokens: 7,
  cache_read_input_tokens: 5,
  cache_creation_input_tokens: 3,
};

describe("Anthropic Messages", () => {
  it("answers in one document", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const body = await postForJson(`${model.url}/v1/messages`, question);
    expect(body).toMatchObject({
      type: "message",
      model: "claude-x",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: step.thinking },
        { type: "text", text: step.text },
        { type: "tool_use", name: "Write", input: { file_path: "/w/a.txt" } },
      ],
      usage: allUsage,
    });
  });

  it("streams the same answer in pieces", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const events = await postForEvents(`${model.url}/any/prefix/v1/messages?beta=true`, {
      ...question,
      stream: true,
    });
    expect(events.every(({ event, data }) => event === asObject(data)["type"])).toBe(true);
    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set([
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
      ]),
    );
    const deltas = dataOf(events).map((data) => asObject(data["delta"]));
    const joined = (key: string) => deltas.map((delta) => asText(delta[key])).join("");
    expect(joined("thinking")).toBe(step.thinking);
    expect(joined("text")).toBe(step.text);
    expect(JSON.parse(joined("partial_json"))).toEqual(step.calls[0]?.arguments);
    expect(dataOf(events).at(0)).toMatchObject({ message: { usage: { ...allUsage, output_tokens: 1 } } });
    expect(dataOf(events).at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: allUsage });
    expect(model.usageTotals.all).toEqual({ ...usage, reasoning: 0 });
  });

  it("counts tokens, lists models and answers a ping", async () => {
    await using model = await startScriptedModel();
    const counted = await postForJson(`${model.url}/v1/messages/count_tokens`, question);
    expect(counted["input_tokens"]).toBeGreaterThan(0);
    const models = asObject(await (await fetch(`${model.url}/v1/models`)).json());
    expect(models["data"]).toHaveLength(3);
    expect((await fetch(model.url, { method: "HEAD" })).status).toBe(200);
    expect(model.usageTotals.all.input).toBe(0);
  });

  it("fails in the vendor's words", async () => {
    const fault = { kind: "error", status: 529 } as const;
    await using model = await startScriptedModel({ script: [{ fault }] });
    const response = await post(`${model.url}/v1/messages`, question);
    expect(response.status).toBe(529);
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  });
});
