import { describe, expect, it } from "vitest";
import { providersAt, specFor } from "./model-gateway.fixture.ts";
import { findEndpoint, readTarget, sentQuery } from "./route.ts";

const spec = specFor("http://127.0.0.1:1", { providers: providersAt("http://127.0.0.1:1") });
const find = (method: string, url: string) => {
  const target = readTarget(spec, url);
  sentQuery(target);
  return findEndpoint(target, method).kind;
};

const gemini = "/gemini/v1beta/models/m";

describe("doors of a vendor", () => {
  it.each([
    ["POST", "/anthropic/v1/messages?beta=true", "answer"],
    ["POST", "/anthropic/v1/messages/count_tokens", "count"],
    ["GET", "/anthropic/v1/models", "look"],
    ["HEAD", "/anthropic/", "look"],
    ["POST", "/openai/v1/responses", "answer"],
    ["POST", "/openai/v1/responses/compact", "answer"],
    ["POST", "/openai/v1/responses/input_tokens", "count"],
    ["POST", "/openai/v1/chat/completions", "answer"],
    ["GET", "/openai/v1/models/gpt-5", "look"],
    ["POST", `${gemini}:generateContent`, "answer"],
    ["POST", `${gemini}:streamGenerateContent?alt=sse`, "answer"],
    ["POST", `${gemini}:countTokens`, "count"],
  ])("are open: %s %s", (method, url, kind) => {
    expect(find(method, url)).toBe(kind);
  });

  it.each([
    ["POST", "/anthropic/v1/messages/batches"],
    ["POST", "/anthropic/v1/complete"],
    ["POST", "/anthropic/v1/files"],
    ["POST", "/anthropic/v1/skills"],
    ["POST", "/anthropic/v1/agents"],
    ["GET", "/anthropic/v1/files/file_1/content"],
    ["GET", "/anthropic/v1/organizations/usage_report/messages"],
    ["DELETE", "/anthropic/v1/messages"],
    ["GET", "/openai/v1/responses/resp_1"],
    ["GET", "/openai/v1/responses/resp_1/input_items"],
    ["POST", "/openai/v1/responses/resp_1/cancel"],
    ["GET", "/openai/v1/chat/completions"],
    ["POST", "/openai/v1/conversations"],
    ["POST", "/openai/v1/embeddings"],
    ["POST", "/openai/v1/completions"],
    ["POST", "/openai/v1/moderations"],
    ["POST", "/openai/v1/images/edits"],
    ["POST", "/openai/v1/audio/speech"],
    ["POST", "/openai/v1/videos"],
    ["POST", "/openai/v1/batches"],
    ["POST", "/openai/v1/files"],
    ["POST", "/openai/v1/vector_stores"],
    ["POST", "/openai/v1/containers"],
    ["POST", "/openai/v1/assistants"],
    ["POST", "/openai/v1/fine_tuning/jobs"],
    ["POST", "/openai/v1/realtime/sessions"],
    ["GET", "/openai/v1/realtime"],
    ["POST", "/openai/v1/load_lora_adapter"],
    ["POST", "/openai/api/pull"],
    ["POST", `${gemini}:embedContent`],
    ["POST", `${gemini}:batchGenerateContent`],
    ["POST", `${gemini}:predictLongRunning`],
    ["POST", "/gemini/v1beta/tunedModels/m:generateContent"],
    ["POST", "/gemini/v1beta/cachedContents"],
    ["POST", "/gemini/v1beta/interactions"],
    ["POST", "/gemini/upload/v1beta/files"],
    ["GET", "/gemini/v1beta/files"],
    ["GET", "/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"],
    ["POST", `${gemini}:generateContent?upload_protocol=resumable`],
    ["POST", `${gemini}:generateContent?%24httpMethod=DELETE`],
  ])("are closed: %s %s", (method, url) => {
    expect(() => find(method, url)).toThrow(/not pass/);
  });
});
