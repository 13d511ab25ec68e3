/** Messages of Anthropic, version 2023-06-01, as of November 2026. */
import {
  type Fields,
  type Rule,
  address,
  costing,
  data,
  encoded,
  kept,
  kinds,
  list,
  mcpServer,
  object,
  otherModel,
  payer,
  priced,
  program,
  refused,
  schema,
  setting,
  text,
  textOr,
} from "./rule.ts";

const cacheControl = object({ type: setting, ttl: priced("cache_ttl", "5m") });
const common: Fields = { type: setting, cache_control: cacheControl };

const citations = list(
  object({
    enabled: setting,
    type: setting,
    cited_text: text,
    document_title: text,
    title: text,
    source: text,
    url: text,
    encrypted_index: text,
  }),
);
const textBlock = object({ ...common, text, citations });

const image = object({
  ...common,
  source: kinds(
    { base64: object({ type: setting, media_type: text, data: encoded }), url: address, file: kept },
    { noun: "a source" },
  ),
});

const heldParts = list(kinds({ text: textBlock, image }, { noun: "a content block" }));
const document = object({
  ...common,
  title: text,
  context: text,
  citations,
  source: kinds(
    {
      base64: object({ type: setting, media_type: text, data: encoded }),
      text: object({ type: setting, media_type: text, data: text }),
      content: object({ type: setting, content: textOr(heldParts) }),
      url: address,
      file: kept,
    },
    { noun: "a source" },
  ),
});

const searchResult = object({
  ...common,
  source: text,
  title: text,
  citations,
  content: list(kinds({ text: textBlock }, { noun: "a content block" })),
});
const toolReference = object({ ...common, tool_name: text, name: text });

const tool = (more: Fields = {}): Rule =>
  object({
    ...common,
    name: text,
    description: text,
    input_schema: schema,
    input_examples: data,
    allowed_callers: list(setting),
    ...more,
  });
const location: Fields = {
  allowed_domains: list(text),
  blocked_domains: list(text),
  user_location: object({ city: text, region: text, country: text, timezone: text }),
};

const fetchesPages = refused(
  "fetch pages",
  "That would go around the policy of the box: let a tool in the box fetch them.",
);

const plainTools = [
  "custom",
  "bash_20241022",
  "bash_20250124",
  "text_editor_20241022",
  "text_editor_20250124",
  "text_editor_20250429",
  "text_editor_20250728",
  "memory_20250818",
  "computer_20241022",
  "computer_20250124",
  "computer_20251124",
  "computer_toolset_20260801",
  "tool_search_tool_regex",
  "tool_search_tool_regex_20251119",
  "tool_search_tool_bm25",
  "tool_search_tool_bm25_20251119",
] as const;

/** The box runs these; the service runs only the search, which looks into its index and opens no page. */
const tools = list(
  kinds(
    {
      ...Object.fromEntries(plainTools.map((type) => [type, tool()])),
      web_search_20250305: costing("web_search", tool(location)),
      web_fetch_20250910: fetchesPages,
      web_fetch_20260209: fetchesPages,
      web_fetch_20260309: fetchesPages,
      web_fetch_20260318: fetchesPages,
      code_execution_20250522: program,
      code_execution_20250825: program,
      code_execution_20260120: program,
      code_execution_20260521: program,
      advisor_20260301: otherModel,
      mcp_toolset: mcpServer,
    },
    { noun: "a tool", missing: () => tool() },
  ),
);

const toolUse = object({ ...common, id: text, name: text, input: data, toolset_name: text });
const toolResult = object({
  ...common,
  tool_use_id: text,
  content: textOr(
    list(
      kinds(
        { text: textBlock, image, document, search_result: searchResult, tool_reference: toolReference },
        { noun: "a content block" },
      ),
    ),
  ),
});
/** Results of the service's own tools. The addresses in them are of pages that are already read. */
const searchFound = object({
  ...common,
  tool_use_id: text,
  content: list(
    kinds(
      {
        web_search_result: object({
          type: setting,
          url: text,
          title: text,
          encrypted_content: text,
          page_age: text,
        }),
        web_search_tool_result_error: object({ type: setting, error_code: text }),
      },
      { noun: "a result" },
    ),
  ),
});
const toolsFound = object({
  ...common,
  tool_use_id: text,
  content: object({ tool_references: list(toolReference), error_code: text, error_message: text }),
});

const toolChange = object({
  ...common,
  tool: kinds(
    {
      tool_reference: toolReference,
      tool_definition: object({ type: setting, definition: tools }),
      mcp_tool_reference: mcpServer,
      mcp_toolset_reference: mcpServer,
    },
    { noun: "a tool" },
  ),
});

const blocks = list(
  kinds(
    {
      text: textBlock,
      image,
      document,
      search_result: searchResult,
      thinking: object({ ...common, thinking: text, signature: text }),
      redacted_thinking: object({ ...common, data: text }),
      tool_use: toolUse,
      tool_result: toolResult,
      tool_reference: toolReference,
      server_tool_use: toolUse,
      web_search_tool_result: searchFound,
      tool_search_tool_result: toolsFound,
      tool_addition: toolChange,
      tool_removal: toolChange,
      compaction: object({
        ...common,
        content: text,
        encrypted_content: text,
        signature: text,
        tool_changes: list(toolChange),
      }),
      container_upload: kept,
      mcp_tool_use: mcpServer,
      mcp_tool_result: mcpServer,
      mcp_tool_listing: mcpServer,
    },
    { noun: "a content block" },
  ),
);

export const anthropicBody: Rule = object({
  model: text,
  messages: list(object({ role: setting, content: textOr(blocks) })),
  system: textOr(blocks),
  tools,
  tool_choice: object({ type: setting, name: text }),
  cache_control: cacheControl,
  metadata: object({ user_id: text }),
  stop_sequences: list(text),
  output_config: object({ format: object({ type: setting, schema }) }),
  output_format: object({ type: setting, schema }),
  context_management: object({
    edits: list(object({ instructions: text, exclude_tools: list(text), clear_tool_inputs: list(text) })),
  }),
  compaction: object({ type: setting, instructions: text }),
  diagnostics: object({ previous_message_id: text }),
  // The service's own default, which is billed as the account has agreed.
  service_tier: priced("service_tier", "auto", "standard_only"),
  speed: priced("speed", "standard"),
  inference_geo: priced("inference_geo", "global"),
  mcp_servers: mcpServer,
  container: kept,
  thread: kept,
  fallbacks: otherModel,
  fallback_credit_token: payer,
  billing_policy: payer,
  user_profile_id: payer,
  workspace_id: payer,
  betas: refused("take a beta that is not known", "Send it as the header anthropic-beta."),
  anthropic_beta: refused("take a beta that is not known", "Send it as the header anthropic-beta."),
});
