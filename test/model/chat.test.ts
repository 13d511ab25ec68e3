import { describe, expect, it } from "vitest";
import { type JsonObject, asObject, asObjects, asText } from "./json.ts";
import { dataOf, post, postForEvents, postForJson } from "./plain-client.ts";
import { startScriptedModel } from "./scripted-model.ts";

const usage = { input: 11, output: 7, cached: 5, cacheWrite: 3, reasoning: 2 };
const step = {
  text: "I write a file and look around.",
  calls: [
    { tool: "write", arguments: { filePath: "a.txt", content: "a long enough text\n" } },
    { tool: "bash", arguments: { command: "ls" } },
  ],
  usage,
};
const question = { model: "m", messages: [{ role: "user", content: "go" }] };
const allUsage = {
  prompt_tokens: 19,
  completion_tokens: 7,
  total_tokens: 26,
  prompt_tokens_details: { cached_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

describe("Chat Completions", () => {
  it("answers in one document", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const body = await postForJson(`${model.url}/v1/chat/completions`, question);
    expect(body).toMatchObject({
      object: "chat.completion",
      model: "m",
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: step.text,
            tool_calls: [{ function: { name: "write" } }, { type: "function" }],
          },
        },
      ],
      usage: allUsage,
    });
    expect(model.usageTotals.all).toEqual({ ...usage, input: 14, cacheWrite: 0 });
  });

  it("streams both calls in pieces, and usage to those who ask", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const url = `${model.url}/v1/chat/completions`;
    const without = await postForEvents(url, { ...question, stream: true });
    expect(without.at(-1)?.data).toBe("[DONE]");
    expect(dataOf(without).filter((data) => data["usage"])).toEqual([]);
    expect(model.usageTotals.all.output).toBe(0);

    const events = await postForEvents(url, {
      ...question,
      stream: true,
      stream_options: { include_usage: true },
    });
    const deltas = dataOf(events).flatMap((data) =>
      asObjects(data["choices"]).map((one) => asObject(one["delta"])),
    );
    expect(deltas.map((delta) => asText(delta["content"])).join("")).toBe(step.text);
    const parts = deltas.flatMap((delta) => asObjects(delta["tool_calls"]));
    const argumentsAt = (index: number): JsonObject => {
      const own = parts.filter((part) => part["index"] === index);
      return asObject(JSON.parse(own.map((part) => asObject(part["function"])["arguments"]).join("")));
    };
    expect([argumentsAt(0), argumentsAt(1)]).toEqual(step.calls.map((call) => call.arguments));
    expect(dataOf(events).at(-2)).toMatchObject({ choices: [], usage: allUsage });
    expect(model.usageTotals.byModel.get("m")).toEqual({ ...usage, input: 14, cacheWrite: 0 });
  });

  it("fails in the vendor's words and says when to come back", async () => {
    const fault = { kind: "error", status: 429, retryAfterSeconds: 3 } as const;
    await using model = await startScriptedModel({ script: [{ fault }] });
    const response = await post(`${model.url}/v1/chat/completions`, question);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(await response.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  });
});
