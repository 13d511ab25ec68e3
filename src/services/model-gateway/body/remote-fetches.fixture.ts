/** Requests that would make a vendor do something for the box, each with the same in a form that stays between the two. */
import type { ModelApi } from "../../../contract/model/api.ts";

export const away = "https://attacker.test/?secret=1";
const picture = "data:image/png;base64,AAAA";

export interface RemoteFetch {
  readonly what: string;
  readonly api: ModelApi;
  readonly request: object;
  readonly harmless?: object;
  readonly says?: RegExp;
}

const user = (...content: unknown[]) => [{ role: "user", content }];
const unknownType = /which the gateway does not know/;

const source = { type: "url", url: away };
const held = { type: "base64", media_type: "image/png", data: "AAAA" };
const result = (...content: unknown[]) => user({ type: "tool_result", tool_use_id: "1", content });
const inDocument = (...content: unknown[]) => ({ type: "document", source: { type: "content", content } });

const anthropic: readonly Omit<RemoteFetch, "api">[] = [
  {
    what: "a picture",
    request: { messages: user({ type: "image", source }) },
    harmless: { messages: user({ type: "image", source: held }) },
  },
  {
    what: "a picture in a tool's result",
    request: { messages: result({ type: "image", source }) },
    harmless: { messages: user({ type: "tool_use", input: { source } }) },
  },
  {
    what: "a picture in a document",
    request: { messages: user(inDocument({ type: "image", source })) },
    harmless: { messages: user(inDocument({ type: "image", source: held }, { type: "text", text: away })) },
  },
  {
    what: "a picture in a document in a tool's result",
    request: { messages: result(inDocument({ type: "image", source })) },
    harmless: { messages: result(inDocument({ type: "image", source: held })) },
  },
  { what: "a document", request: { messages: user({ type: "document", source }) } },
  { what: "a picture in the instructions", request: { system: [{ type: "image", source }] } },
  {
    what: "an address in place of the picture itself",
    request: { messages: user({ type: "image", source: { ...held, data: away } }) },
  },
  {
    what: "a file that is kept",
    request: { messages: user({ type: "document", source: { type: "file", file_id: "file_1" } }) },
  },
  {
    what: "a file for a container",
    request: { messages: user({ type: "container_upload", file_id: "file_1" }) },
  },
  {
    what: "a source that is new",
    request: { messages: user({ type: "image", source: { type: "bucket", name: "x" } }) },
    says: unknownType,
  },
  {
    what: "an MCP server",
    request: { messages: [], mcp_servers: [{ ...source, name: "x" }] },
    harmless: { messages: [], mcp_servers: [] },
  },
  { what: "the tools of an MCP server", request: { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] } },
  {
    what: "a page",
    request: { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] },
    harmless: { tools: [{ name: "web_fetch", input_schema: {} }] },
  },
  {
    what: "a newer tool for pages",
    request: { tools: [{ type: "web_fetch_20300101", name: "web_fetch" }] },
    harmless: {
      tools: [
        { type: "web_search_20250305", name: "web_search", max_uses: 8, allowed_domains: ["example.org"] },
      ],
    },
    says: unknownType,
  },
  {
    what: "a tool that is added later",
    request: {
      messages: [
        {
          role: "system",
          content: [
            {
              type: "tool_addition",
              tool: { type: "tool_definition", definition: { type: "web_fetch_20260318" } },
            },
          ],
        },
      ],
    },
  },
  {
    what: "programs",
    request: { tools: [{ type: "code_execution_20250825", name: "code_execution" }] },
    harmless: { tools: [{ type: "bash_20250124", name: "bash" }] },
  },
  { what: "a container", request: { container: "container_1" }, harmless: { container: null } },
  { what: "another model", request: { fallbacks: [{ model: "claude-dear" }] } },
  {
    what: "another model to ask for advice",
    request: { tools: [{ type: "advisor_20260301", name: "advisor", model: "claude-dear" }] },
  },
  { what: "another account", request: { user_profile_id: "profile_1" } },
  {
    what: "a schema that is elsewhere",
    request: { tools: [{ name: "x", input_schema: { properties: { a: { $ref: away } } } }] },
    harmless: {
      tools: [
        {
          name: "x",
          input_schema: {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            properties: { a: { $ref: "#/$defs/a" } },
          },
        },
      ],
    },
  },
];

const answered = (output: unknown) => [{ type: "function_call_output", call_id: "1", output }];

const responses: readonly Omit<RemoteFetch, "api">[] = [
  {
    what: "a picture",
    request: { input: user({ type: "input_image", image_url: away }) },
    harmless: {
      input: user({ type: "input_image", image_url: picture }, { type: "input_text", text: away }),
    },
  },
  {
    what: "a picture in a tool's result",
    request: { input: answered([{ type: "input_image", image_url: away }]) },
    harmless: { input: answered(`{"image_url":"${away}"}`) },
  },
  {
    what: "a picture of the screen",
    request: {
      input: [
        {
          type: "computer_call_output",
          call_id: "1",
          output: { type: "computer_screenshot", image_url: away },
        },
      ],
    },
    harmless: {
      input: [
        {
          type: "computer_call_output",
          call_id: "1",
          output: { type: "computer_screenshot", image_url: picture },
        },
      ],
    },
  },
  {
    what: "a file",
    request: { input: user({ type: "input_file", file_url: away }) },
    harmless: {
      input: user({ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }),
    },
  },
  {
    what: "a file by address in the field for its data",
    request: { input: user({ type: "input_file", file_data: away }) },
  },
  { what: "a file that is kept", request: { input: user({ type: "input_file", file_id: "file-1" }) } },
  {
    what: "a prompt with a picture as its variable",
    request: { prompt: { id: "pmpt_1", variables: { a: { type: "input_image", image_url: away } } } },
    harmless: { prompt: null },
  },
  {
    what: "a conversation that is kept",
    request: { conversation: "conv_1" },
    harmless: { previous_response_id: "resp_1" },
  },
  {
    what: "an MCP server",
    request: { input: "x", tools: [{ type: "mcp", server_url: away, server_label: "x" }] },
    harmless: { input: "x", tools: [{ type: "function", name: "mcp" }] },
  },
  {
    what: "an MCP server among tools that come later",
    request: {
      input: [{ type: "additional_tools", role: "developer", tools: [{ type: "mcp", server_url: away }] }],
    },
    harmless: {
      input: [{ type: "additional_tools", role: "developer", tools: [{ type: "custom", name: "x" }] }],
    },
  },
  {
    what: "an MCP server among tools that were found",
    request: {
      input: [{ type: "tool_search_output", call_id: "1", tools: [{ type: "mcp", server_url: away }] }],
    },
  },
  {
    what: "a yes to an MCP server",
    request: { input: [{ type: "mcp_approval_response", approval_request_id: "1", approve: true }] },
  },
  {
    what: "a picture as a mask",
    request: { tools: [{ type: "image_generation", input_image_mask: { image_url: away } }] },
    harmless: { tools: [{ type: "image_generation", input_image_mask: { image_url: picture } }] },
  },
  {
    what: "a hosted shell",
    request: {
      tools: [
        { type: "shell", environment: { type: "container_auto", network_policy: { type: "allowlist" } } },
      ],
    },
    harmless: { tools: [{ type: "shell", environment: { type: "local" } }, { type: "local_shell" }] },
  },
  { what: "programs", request: { tools: [{ type: "code_interpreter", container: { type: "auto" } }] } },
  { what: "files that are kept", request: { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] } },
  {
    what: "pages for a search",
    request: { tools: [{ type: "web_search" }] },
    harmless: { tools: [{ type: "web_search", external_web_access: false }] },
  },
  { what: "pages for an older search", request: { tools: [{ type: "web_search_preview" }] } },
  { what: "a new kind of tool", request: { tools: [{ type: "browser" }] }, says: unknownType },
  { what: "a new kind of item", request: { input: [{ type: "page", url: away }] }, says: unknownType },
];

const chat: readonly Omit<RemoteFetch, "api">[] = [
  {
    what: "a picture",
    request: { messages: user({ type: "image_url", image_url: { url: away } }) },
    harmless: {
      messages: user({ type: "image_url", image_url: { url: picture } }, { type: "text", text: away }),
    },
  },
  { what: "a picture as a plain text", request: { messages: user({ type: "image_url", image_url: away }) } },
  {
    what: "a picture behind a space",
    request: { messages: user({ type: "image_url", image_url: { url: ` ${away}` } }) },
  },
  {
    what: "a file of the server",
    request: { messages: user({ type: "image_url", image_url: { url: "/etc/passwd" } }) },
  },
  {
    what: "a picture in a tool's result",
    request: {
      messages: [
        { role: "tool", tool_call_id: "1", content: [{ type: "image_url", image_url: { url: away } }] },
      ],
    },
  },
  {
    what: "a film",
    request: { messages: user({ type: "video_url", video_url: { url: away } }) },
    harmless: { messages: user({ type: "video_url", video_url: { url: "data:video/mp4;base64,AAAA" } }) },
  },
  {
    what: "a sound",
    request: { messages: user({ type: "input_audio", input_audio: { data: away, format: "wav" } }) },
    harmless: { messages: user({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }) },
  },
  {
    what: "a file",
    request: { messages: user({ type: "file", file: { file_data: away } }) },
    harmless: {
      messages: user({
        type: "file",
        file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
      }),
    },
  },
  { what: "a file that is kept", request: { messages: user({ type: "file", file: { file_id: "file-1" } }) } },
  {
    what: "a list of films",
    request: { messages: user({ type: "video", video: [away] }) },
    says: unknownType,
  },
  { what: "a search", request: { web_search_options: {} } },
  { what: "other models", request: { fallbacks: ["gpt-dear"] } },
  { what: "an add-on", request: { plugins: [{ id: "web" }] } },
  { what: "another server", request: { api_base: away } },
  {
    what: "another server to share a cache with",
    request: { kv_transfer_params: { remote_host: "metadata" } },
  },
  {
    what: "an MCP server",
    request: { tools: [{ type: "mcp", server_url: away }] },
    harmless: {
      tools: [{ type: "function", function: { name: "mcp", parameters: {} } }, { function: { name: "x" } }],
    },
    says: unknownType,
  },
];

const parts = (...all: unknown[]) => [{ role: "user", parts: all }];

const gemini: readonly Omit<RemoteFetch, "api">[] = [
  {
    what: "a page",
    request: { contents: [], tools: [{ url_context: {} }] },
    harmless: { contents: [], tools: [{ functionDeclarations: [] }, { googleSearch: {} }] },
  },
  {
    what: "a file",
    request: { contents: { parts: { fileData: { fileUri: away } } } },
    harmless: { contents: parts({ inlineData: { mimeType: "image/png", data: "AAAA" } }, { text: away }) },
  },
  { what: "a file in the other spelling", request: { contents: parts({ file_data: { file_uri: away } }) } },
  {
    what: "a file in the instructions",
    request: { system_instruction: { parts: [{ fileData: { fileUri: away } }] } },
  },
  {
    what: "a file in a tool's result",
    request: {
      contents: parts({
        functionResponse: { name: "x", response: {}, parts: [{ fileData: { fileUri: away } }] },
      }),
    },
    harmless: {
      contents: parts({
        function_response: {
          name: "x",
          response: { fileData: { fileUri: away } },
          parts: [{ inlineData: { data: "AAAA" } }],
        },
      }),
    },
  },
  {
    what: "an MCP server",
    request: { tools: [{ mcpServers: [{ name: "x", streamableHttpTransport: { url: away } }] }] },
  },
  {
    what: "an MCP server beside functions",
    request: { tools: { functionDeclarations: [], mcp_servers: [{ name: "x" }] } },
  },
  { what: "programs", request: { tools: [{ codeExecution: {} }] } },
  { what: "files that are kept", request: { tools: [{ fileSearch: { fileSearchStoreNames: ["x"] } }] } },
  { what: "a search of somebody else", request: { tools: [{ exaAiSearch: {} }] } },
  { what: "a new kind of tool", request: { tools: [{ pageReader: {} }] }, says: /does not know/ },
  { what: "a new kind of part", request: { contents: parts({ pageData: {} }) }, says: /does not know/ },
  {
    what: "a cache that is kept",
    request: { cachedContent: "cachedContents/1" },
    harmless: { cached_content: null },
  },
  {
    what: "another model",
    request: { generationConfig: { routingConfig: { manualMode: { modelName: "dear" } } } },
  },
  {
    what: "a file in what is only counted",
    request: {
      generateContentRequest: { model: "models/m", contents: parts({ fileData: { fileUri: away } }) },
    },
    harmless: { generateContentRequest: { model: "models/m", contents: parts({ text: away }) } },
  },
];

const of = (api: ModelApi, cases: readonly Omit<RemoteFetch, "api">[]): readonly RemoteFetch[] =>
  cases.map((one) => ({ api, ...one }));

export const remoteFetches: readonly RemoteFetch[] = [
  ...of("anthropic", anthropic),
  ...of("openai-responses", responses),
  ...of("openai-chat", chat),
  ...of("gemini", gemini),
];
