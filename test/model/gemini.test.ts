import { describe, expect, it } from "vitest";
import { asList, asObject, asObjects, asText } from "./json.ts";
import { dataOf, post, postForEvents, postForJson } from "./plain-client.ts";
import { startScriptedModel } from "./scripted-model.ts";

const usage = { input: 11, output: 7, cached: 5, cacheWrite: 0, reasoning: 2 };
const step = {
  thinking: "Let me see.",
  text: "I write a file with a long enough text.",
  calls: [{ tool: "write_file", arguments: { file_path: "/w/a.txt", content: "a\n" } }],
  usage,
};
const question = { contents: [{ role: "user", parts: [{ text: "go" }] }] };
const allUsage = {
  promptTokenCount: 16,
  cachedContentTokenCount: 5,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
  totalTokenCount: 23,
};

describe("Gemini", () => {
  it("answers in one document", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const body = await postForJson(`${model.url}/v1beta/models/gem-1:generateContent`, question);
    expect(body).toMatchObject({
      modelVersion: "gem-1",
      candidates: [
        {
          finishReason: "STOP",
          content: { role: "model", parts: [{ thought: true }, { text: step.text }, { functionCall: {} }] },
        },
      ],
      usageMetadata: allUsage,
    });
    expect(model.usageTotals.byModel.get("gem-1")).toEqual(usage);
  });

  it("streams in pieces; the last one has the whole usage", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const url = `${model.url}/v1beta/models/gem-1:streamGenerateContent`;
    const chunks = dataOf(await postForEvents(`${url}?alt=sse`, question));
    const parts = chunks.flatMap((chunk) =>
      asObjects(chunk["candidates"]).flatMap((one) => asObjects(asObject(one["content"])["parts"])),
    );
    const text = parts.filter((part) => part["thought"] !== true).map((part) => asText(part["text"]));
    expect(text.join("")).toBe(step.text);
    expect(parts.find((part) => part["functionCall"])).toEqual({
      functionCall: { name: "write_file", args: step.calls[0]?.arguments },
    });
    expect(chunks.at(0)?.["usageMetadata"]).toMatchObject({ promptTokenCount: 16, candidatesTokenCount: 0 });
    expect(chunks.at(-1)?.["usageMetadata"]).toEqual(allUsage);
    expect(model.usageTotals.all).toEqual(usage);

    const list = asList(await (await post(url, question)).json());
    expect(list).toHaveLength(chunks.length);
  });

  it("counts tokens", async () => {
    await using model = await startScriptedModel();
    const counted = await postForJson(`${model.url}/v1beta/models/gem-1:countTokens`, question);
    expect(counted["totalTokens"]).toBeGreaterThan(0);
  });

  it("gives a classifier the JSON it asks for", async () => {
    await using model = await startScriptedModel();
    const body = await postForJson(`${model.url}/v1beta/models/gem-1:generateContent`, {
      ...question,
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          properties: {
            reasoning: { type: "string" },
            model_choice: { type: "string", enum: ["flash", "pro"] },
            score: { type: "INTEGER", minimum: 1 },
          },
          required: ["reasoning", "model_choice", "score"],
        },
      },
    });
    const [part] = asObjects(asObject(asObject(asObjects(body["candidates"])[0])["content"])["parts"]);
    expect(JSON.parse(String(part?.["text"]))).toEqual({
      reasoning: "scripted",
      model_choice: "flash",
      score: 1,
    });
    expect(model.requests[0]?.isSideCall).toBe(true);
  });

  it("fails in the vendor's words", async () => {
    const fault = { kind: "error", status: 429, retryAfterSeconds: 3 } as const;
    await using model = await startScriptedModel({ script: [{ fault }] });
    const response = await post(`${model.url}/v1beta/models/gem-1:generateContent`, question);
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({
      error: { code: 429, status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "3s" }] },
    });
  });
});
