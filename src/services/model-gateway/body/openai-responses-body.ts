/** Responses of OpenAI, over HTTP and WebSocket, as of November 2026. */
import {
  type Fields,
  type Rule,
  address,
  costing,
  data,
  dataOnly,
  encoded,
  kept,
  kinds,
  list,
  map,
  mcpServer,
  object,
  otherModel,
  priced,
  program,
  refuseRemoteFetch,
  refused,
  schema,
  setting,
  text,
  textOr,
} from "./rule.ts";

const named: Fields = { id: text, call_id: text, type: setting, name: text, namespace: text };

const outputText = object({ type: setting, text, annotations: data, logprobs: data });
const image = object({ type: setting, image_url: dataOnly, file_id: kept });
const parts = list(
  kinds(
    {
      input_text: object({ type: setting, text }),
      output_text: outputText,
      text: outputText,
      summary_text: outputText,
      reasoning_text: outputText,
      refusal: object({ type: setting, refusal: text }),
      input_image: image,
      computer_screenshot: image,
      input_file: object({
        type: setting,
        filename: text,
        file_data: encoded,
        file_url: address,
        file_id: kept,
      }),
      input_audio: costing(
        "audio",
        object({ type: setting, input_audio: object({ data: encoded, format: setting }) }),
      ),
    },
    { noun: "a content part" },
  ),
);

const functionTool = object({ ...named, description: text, parameters: schema, output_schema: schema });
const customTool = object({
  ...named,
  description: text,
  format: object({ type: setting, syntax: setting, definition: text }),
});
const localOnly: Rule = kinds(
  {
    local: object({ type: setting, skills: list(object({ name: text, description: text, path: text })) }),
    container_auto: program,
    container_reference: program,
  },
  { noun: "an environment" },
);

const opensPages = "open pages for its search";
const searchHint =
  'That would go around the policy of the box: say "external_web_access": false, and it searches what it has.';
const location = object({ city: text, region: text, country: text, timezone: text });

/** SECURITY: with access to the web it opens every page that the model names, with any data in the address. */
const search: Rule = (value, at, terms) => {
  if ((value as Readonly<Record<string, unknown>>)["external_web_access"] !== false)
    refuseRemoteFetch(at, opensPages, searchHint);
  searchFields(value, at, terms);
};
const searchFields = costing(
  "web_search",
  object({
    type: setting,
    search_context_size: setting,
    filters: object({ allowed_domains: list(text), blocked_domains: list(text) }),
    user_location: location,
  }),
);
const livingSearch = refused(opensPages, "Use the tool web_search, and let it search what it has.");

const tools = list(
  kinds(
    {
      function: functionTool,
      custom: customTool,
      namespace: object({
        ...named,
        description: text,
        tools: list(kinds({ function: functionTool, custom: customTool }, { noun: "a tool" })),
      }),
      tool_search: object({ type: setting, description: text, parameters: schema }),
      apply_patch: object({ type: setting }),
      local_shell: object({ type: setting }),
      shell: object({ type: setting, environment: localOnly }),
      computer: object({ type: setting }),
      computer_use_preview: object({ type: setting }),
      web_search: search,
      web_search_2025_08_26: search,
      web_search_preview: livingSearch,
      web_search_preview_2025_03_11: livingSearch,
      image_generation: costing(
        "image_generation",
        object({
          type: setting,
          model: text,
          input_image_mask: object({ image_url: dataOnly, file_id: kept }),
        }),
      ),
      file_search: kept,
      code_interpreter: program,
      programmatic_tool_calling: program,
      mcp: mcpServer,
    },
    { noun: "a tool" },
  ),
);

const message = object({ id: text, type: setting, role: setting, content: textOr(parts) });
const call = object({ ...named, arguments: data, input: data, action: data, operation: data });
const answer = object({ ...named, output: textOr(parts) });
const record = object({ ...named, action: data, result: text });

const items: Fields = {
  message,
  function_call: call,
  custom_tool_call: call,
  local_shell_call: call,
  apply_patch_call: call,
  computer_call: object({ ...named, action: data, actions: data, pending_safety_checks: data }),
  shell_call: object({ ...named, action: data, environment: localOnly }),
  tool_search_call: call,
  function_call_output: answer,
  custom_tool_call_output: answer,
  local_shell_call_output: answer,
  apply_patch_call_output: answer,
  computer_call_output: object({ ...named, output: parts, acknowledged_safety_checks: data }),
  shell_call_output: object({ ...named, output: data }),
  tool_search_output: object({ ...named, tools }),
  additional_tools: object({ ...named, role: setting, tools }),
  reasoning: object({ ...named, summary: parts, content: parts, encrypted_content: text }),
  compaction: object({ ...named, encrypted_content: text }),
  compaction_summary: object({ ...named, encrypted_content: text }),
  compaction_trigger: object({ type: setting }),
  // Results of the service, without the fields that would make it search again.
  web_search_call: record,
  image_generation_call: object({ ...named, result: encoded, revised_prompt: text }),
  item_reference: object({ id: text, type: setting }),
  code_interpreter_call: program,
  program,
  program_output: program,
  file_search_call: kept,
  mcp_call: mcpServer,
  mcp_list_tools: mcpServer,
  mcp_approval_request: mcpServer,
  mcp_approval_response: mcpServer,
};

const input = list(
  kinds(items, {
    noun: "an item",
    missing: (value) => ("role" in value ? message : "id" in value ? items["item_reference"] : undefined),
  }),
);

export const openAiResponsesBody: Rule = object({
  model: text,
  input: textOr(input),
  instructions: text,
  tools,
  tool_choice: textOr(object({ ...named, server_label: text, tools: data })),
  include: list(text),
  text: object({ format: object({ type: setting, name: text, description: text, schema }) }),
  metadata: map(text),
  client_metadata: map(text),
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  previous_response_id: text,
  moderation: object({ model: text }),
  context_management: list(object({ type: setting, instructions: text })),
  service_tier: priced("service_tier", "auto", "default"),
  prompt: kept,
  conversation: kept,
  models: otherModel,
  response: otherModel,
});
