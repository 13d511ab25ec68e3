import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anthropic } from "./anthropic.ts";
import { readAnswer } from "./answer-reader.ts";
import { gemini } from "./gemini.ts";
import type { Change, ModelLanguage } from "./language.ts";
import { sse } from "./model-gateway.fixture.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";

const to = (maxOutput?: number, isVendor = true): Change => ({ model: "m", maxOutput, isVendor });

describe("what is changed of a request", () => {
  it("is the model's name, and the limit only when it is lowered", () => {
    expect(anthropic.rewrite({ model: "x", max_tokens: 9, a: 1 }, to())).toEqual({
      model: "m",
      max_tokens: 9,
      a: 1,
    });
    expect(anthropic.rewrite({ model: "x", max_tokens: 9 }, to(4))).toEqual({ model: "m", max_tokens: 4 });
    expect(openAiResponses.rewrite({ model: "x" }, to(40))).toEqual({ model: "m", max_output_tokens: 40 });
    const path = "/v1beta/models/x:streamGenerateContent";
    expect(gemini.rewritePath(path, "m")).toBe("/v1beta/models/m:streamGenerateContent");
    expect(gemini.rewritePath(path, "../m")).toBe("/v1beta/models/..%2Fm:streamGenerateContent");
  });

  it("Anthropic: thinking stays below the limit, or is left out", () => {
    const thinking = { type: "enabled", budget_tokens: 8_000 };
    const lowered = (maxOutput: number) =>
      anthropic.rewrite({ max_tokens: 9_000, thinking }, to(maxOutput))["thinking"];
    expect(lowered(8_500)).toEqual(thinking);
    expect(lowered(3_000)).toEqual({ type: "enabled", budget_tokens: 2_999 });
    expect(lowered(1_025)).toEqual({ type: "enabled", budget_tokens: 1_024 });
    expect(lowered(1_024)).toEqual({ type: "disabled" });
    const adaptive = { type: "adaptive" };
    expect(anthropic.rewrite({ thinking: adaptive }, to(50))["thinking"]).toEqual(adaptive);
  });

  it("Chat: a stream says its usage, and each name of the limit is held", () => {
    expect(openAiChat.rewrite({ stream: true, stream_options: { a: 1 } }, to())).toEqual({
      model: "m",
      stream: true,
      stream_options: { a: 1, include_usage: true },
    });
    expect(openAiChat.rewrite({ max_tokens: 90 }, to(20))).toMatchObject({ max_tokens: 20 });
    expect(openAiChat.rewrite({}, to(20))).toMatchObject({ max_completion_tokens: 20 });
    expect(openAiChat.rewrite({}, to(20, false))).toMatchObject({ max_tokens: 20 });
    expect(openAiChat.read({ model: "m", max_tokens: 10, n: 5 }, "").maxOutput).toBe(50);
    expect(openAiChat.rewrite({ max_tokens: 10, n: 5 }, to(20))).toMatchObject({ max_tokens: 4 });
  });

  it("Gemini: both spellings are read, and only one is sent", () => {
    const path = "/v1beta/models/x:generateContent";
    const body = { generation_config: { max_output_tokens: 100, candidate_count: 3 } };
    expect(gemini.read(body, path)).toEqual({ model: "x", choices: 3, maxOutput: 300 });
    expect(gemini.rewrite(body, to(30))).toEqual({
      generationConfig: { maxOutputTokens: 10, candidateCount: 3 },
    });
    const thinking = { generationConfig: { thinkingConfig: { thinkingBudget: 900, includeThoughts: true } } };
    expect(gemini.rewrite(thinking, to(100))).toEqual({
      generationConfig: {
        thinkingConfig: { thinkingBudget: 100, includeThoughts: true },
        maxOutputTokens: 100,
      },
    });
  });
});

const streams: readonly [title: string, language: ModelLanguage, text: string, expected: object][] = [
  [
    "Anthropic, whose last usage has only the output",
    anthropic,
    sse(
      {
        type: "message_start",
        message: { usage: { input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 1 } },
      },
      { type: "content_block_delta", delta: { text: '{"usage":{"output_tokens":999}}' } },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 77 } },
      { type: "message_stop" },
    ),
    {
      usage: { input: 30, output: 77, cached: 20, cacheWrite: 0, reasoning: 0 },
      stop: "length",
      isFinal: true,
    },
  ],
  [
    "Responses that were cut",
    openAiResponses,
    sse(
      { type: "response.created", response: { status: "in_progress", error: null, usage: null } },
      { type: "response.output_text.delta", delta: '"usage"' },
      {
        type: "response.incomplete",
        response: {
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
          usage: { input_tokens: 8, output_tokens: 6, output_tokens_details: { reasoning_tokens: 2 } },
        },
      },
    ),
    { usage: { input: 8, output: 6, cached: 0, cacheWrite: 0, reasoning: 2 }, stop: "length", isFinal: true },
  ],
  [
    "Chat with spaces and carriage returns",
    openAiChat,
    [
      'data: {"usage": null, "choices": [{"finish_reason": null, "delta": {"content": "\\"usage\\""}}]}',
      'data: {"usage":  null, "choices": [{"finish_reason": "stop", "delta": {}}]}',
      'data: {"usage": {"prompt_tokens": 3, "completion_tokens": 4}, "choices": []}',
      "data: [DONE]",
      "",
    ].join("\r\n\r\n"),
    { usage: { input: 3, output: 4, cached: 0, cacheWrite: 0, reasoning: 0 }, stop: "end", isFinal: true },
  ],
  [
    "Gemini that calls a tool before its end",
    gemini,
    sse(
      {
        candidates: [{ content: { parts: [{ functionCall: { name: "f", args: { usageMetadata: {} } } }] } }],
        usageMetadata: { promptTokenCount: 5 },
      },
      {
        candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
        usageMetadata: {
          promptTokenCount: 5,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 3,
          toolUsePromptTokenCount: 1,
        },
      },
    ),
    { usage: { input: 6, output: 5, cached: 0, cacheWrite: 0, reasoning: 3 }, stop: "tool" },
  ],
];

const eventStream = { "content-type": "text/event-stream; charset=utf-8" };

describe("what is learned from a stream", () => {
  it.each(streams)("%s: the same, however it is cut into pieces", (_, language, text, expected) => {
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const reader = readAnswer(language, eventStream, 2 ** 20);
        const bounds = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        bounds.slice(1).forEach((end, i) => reader.push(bytes.subarray(bounds[i], end)));
        expect(reader.end()).toMatchObject(expected);
      }),
    );
  });

  it("is nothing where it cannot be read, and it never throws", () => {
    for (const [, language] of streams) {
      fc.assert(
        fc.property(fc.string(), (noise) => {
          for (const marker of [...language.early, ...language.late]) {
            const reader = readAnswer(language, eventStream, 2 ** 20);
            reader.push(Buffer.from(`data: ${noise}${marker}${noise}\n`));
            expect(reader.end().usage).toBeUndefined();
          }
        }),
      );
    }
    const reader = readAnswer(anthropic, eventStream, 100);
    reader.push(Buffer.from(`data: {"x":"${"y".repeat(200)}`));
    reader.push(Buffer.from('","usage":{"output_tokens":1,"input_tokens":1}}\n'));
    reader.push(Buffer.from('data: {"usage":{"output_tokens":2,"input_tokens":2}}\n'));
    expect(reader.end().usage).toMatchObject({ input: 2, output: 2 });
  });

  it("of a long one is what its last events say", () => {
    const [, language, text, expected] = streams[2]!;
    const reader = readAnswer(language, eventStream, 2 ** 20);
    const early = sse({ usage: { prompt_tokens: 1, completion_tokens: 1 }, choices: [] });
    for (let n = 0; n < 1_000; n++) reader.push(Buffer.from(early));
    reader.push(Buffer.from(text));
    expect(reader.end()).toMatchObject(expected);
  });

  it("a list of events in one document counts too", () => {
    const reader = readAnswer(gemini, { "content-type": "application/json" }, 2 ** 20);
    reader.push(Buffer.from('[{"usageMetadata":{"promptTokenCount":1}},'));
    reader.push(Buffer.from('{"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":3}}]'));
    expect(reader.end().usage).toMatchObject({ input: 2, output: 3 });
  });
});
