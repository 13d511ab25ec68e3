/** Requests as agents send them, with most of what may be in one. */
import type { ModelApi } from "../../../contract/model/api.ts";

const picture = "data:image/png;base64,AAAA";
const cached = { cache_control: { type: "ephemeral", ttl: "5m" } };
const fields = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

export const usual: Readonly<Record<ModelApi, object>> = {
  anthropic: {
    model: "m",
    max_tokens: 9,
    stream: true,
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "high", format: { type: "json_schema", schema: fields } },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    metadata: { user_id: "u" },
    stop_sequences: ["s"],
    system: [{ type: "text", text: "t", ...cached }],
    tools: [
      { name: "n", description: "d", input_schema: fields, strict: true, ...cached },
      { type: "bash_20250124", name: "bash" },
      { type: "computer_20251124", name: "computer", display_width_px: 1, display_height_px: 1 },
      { type: "web_search_20250305", name: "web_search", user_location: { type: "approximate", city: "c" } },
    ],
    tool_choice: { type: "tool", name: "n", disable_parallel_tool_use: true },
    messages: [
      { role: "user", content: "c" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "t", signature: "s+/=" },
          { type: "redacted_thinking", data: "d" },
          { type: "server_tool_use", id: "1", name: "web_search", input: { query: "q" } },
          {
            type: "web_search_tool_result",
            tool_use_id: "1",
            content: [
              { type: "web_search_result", url: "https://example.org", title: "t", encrypted_content: "e" },
            ],
          },
          { type: "tool_use", id: "2", name: "n", input: { a: "x" }, caller: { type: "direct" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "2",
            is_error: false,
            content: [
              { type: "text", text: "t", citations: null },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
              {
                type: "document",
                title: "t",
                source: { type: "text", media_type: "text/plain", data: "words: any." },
              },
              { type: "search_result", source: "s", title: "t", content: [{ type: "text", text: "t" }] },
            ],
            ...cached,
          },
        ],
      },
    ],
  },
  "openai-responses": {
    model: "m",
    instructions: "i",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high", summary: "auto" },
    text: { verbosity: "low", format: { type: "json_schema", name: "n", schema: fields } },
    metadata: { a: "b" },
    client_metadata: { a: "b" },
    prompt_cache_key: "k",
    previous_response_id: "resp_1",
    tool_choice: "auto",
    parallel_tool_calls: true,
    tools: [
      { type: "function", name: "n", description: "d", parameters: fields, strict: false },
      {
        type: "custom",
        name: "n",
        description: "d",
        format: { type: "grammar", syntax: "lark", definition: "d" },
      },
      { type: "tool_search", execution: "client", description: "d", parameters: fields },
      {
        type: "namespace",
        name: "n",
        description: "d",
        tools: [{ type: "function", name: "n", parameters: fields }],
      },
      { type: "web_search", external_web_access: false, search_context_size: "low" },
    ],
    input: [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "t" },
          { type: "input_image", detail: "auto", image_url: picture },
        ],
      },
      { role: "assistant", content: [{ type: "output_text", text: "t", annotations: [], logprobs: [] }] },
      {
        type: "reasoning",
        id: "1",
        summary: [{ type: "summary_text", text: "t" }],
        encrypted_content: "e+/=",
      },
      { type: "function_call", call_id: "1", name: "n", arguments: "{}", status: "completed" },
      { type: "function_call_output", call_id: "1", output: [{ type: "input_text", text: "t" }] },
      { type: "local_shell_call", call_id: "2", action: { type: "exec", command: ["ls"], env: {} } },
      { type: "local_shell_call_output", id: "2", output: "o" },
      { type: "item_reference", id: "1" },
    ],
  },
  "openai-chat": {
    model: "m",
    max_tokens: 9,
    stream: true,
    stream_options: { include_usage: true },
    stop: ["s"],
    user: "u",
    reasoning_effort: "high",
    logit_bias: { "1": 2 },
    response_format: { type: "json_schema", json_schema: { name: "n", schema: fields, strict: true } },
    tools: [{ type: "function", function: { name: "n", description: "d", parameters: fields } }],
    tool_choice: { type: "function", function: { name: "n" } },
    messages: [
      { role: "system", content: [{ type: "text", text: "t", ...cached }] },
      {
        role: "user",
        name: "n",
        content: [{ type: "image_url", image_url: { url: picture, detail: "low" } }],
      },
      { role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] },
      {
        role: "assistant",
        content: null,
        refusal: null,
        reasoning_content: "r",
        tool_calls: [{ id: "1", type: "function", function: { name: "n", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: "c" },
    ],
  },
  gemini: {
    systemInstruction: { role: "user", parts: [{ text: "t" }] },
    generationConfig: {
      temperature: 1,
      stopSequences: ["s"],
      responseMimeType: "application/json",
      responseSchema: fields,
      imageConfig: { aspectRatio: "16:9" },
      thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
    },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["n"] } },
    tools: [
      { functionDeclarations: [{ name: "n", description: "d", parametersJsonSchema: fields }] },
      { googleSearch: {} },
    ],
    contents: [
      { role: "user", parts: [{ text: "t" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
      {
        role: "model",
        parts: [
          { text: "t", thought: true, thoughtSignature: "s+/=" },
          { functionCall: { id: "1", name: "n", args: { a: "x" } } },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "1",
              name: "n",
              response: { output: "o" },
              parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
            },
          },
        ],
      },
    ],
  },
};
