/** Chat Completions of OpenAI, and what compatible servers take beside it, as of November 2026. */
import {
  type Fields,
  type Rule,
  address,
  costing,
  count,
  data,
  dataOnly,
  encoded,
  kept,
  kinds,
  list,
  map,
  object,
  otherModel,
  priced,
  refused,
  schema,
  setting,
  text,
  textOr,
  unknown,
} from "./rule.ts";

/** Some servers pass it on to Anthropic. */
const cacheControl = object({ type: setting, ttl: priced("cache_ttl", "5m") });
const common: Fields = { type: setting, cache_control: cacheControl };
const mediaFields = object({ url: dataOnly, detail: setting, format: setting });
const media: Rule = (value, path, terms) =>
  (typeof value === "string" ? dataOnly : mediaFields)(value, path, terms);

const thoughts = list(object({ type: setting, text }));
const parts = list(
  kinds(
    {
      text: object({ ...common, text }),
      thinking: object({ ...common, thinking: textOr(thoughts), signature: text }),
      refusal: object({ ...common, refusal: text }),
      image_url: object({ ...common, image_url: media }),
      video_url: object({ ...common, video_url: media }),
      audio_url: costing("audio", object({ ...common, audio_url: media })),
      input_audio: costing(
        "audio",
        object({ ...common, input_audio: object({ data: encoded, format: setting }) }),
      ),
      file: object({
        ...common,
        file: object({ filename: text, file_data: encoded, format: text, file_id: kept }),
      }),
    },
    { noun: "a content part" },
  ),
);

const called = object({ name: text, arguments: data, input: data });
const calls = list(
  object({ id: text, type: setting, function: called, custom: called, extra_content: signatures() }),
);

/** How compatible services hand back what a model has thought. */
function signatures(): Rule {
  return object({ google: object({ thought_signature: text }) });
}

const messages = list(
  object({
    role: setting,
    content: textOr(parts),
    name: text,
    refusal: text,
    tool_call_id: text,
    tool_calls: calls,
    function_call: called,
    annotations: data,
    audio: object({ id: text }),
    reasoning: text,
    reasoning_content: text,
    reasoning_text: text,
    reasoning_opaque: text,
    reasoning_details: list(
      object({ type: setting, id: text, format: text, text, summary: text, data: text, signature: text }),
    ),
    cache_control: cacheControl,
    extra_content: signatures(),
  }),
);

const declared = object({ name: text, description: text, parameters: schema, cache_control: cacheControl });
const functionTool = object({ ...common, function: declared });
const tools = list(
  kinds(
    {
      function: functionTool,
      custom: object({ ...common, custom: object({ name: text, description: text, format: data }) }),
    },
    { noun: "a tool", missing: (tool) => ("function" in tool ? functionTool : undefined) },
  ),
);

const searches = refused(
  "search the web",
  "That would go around the policy of the box: let a tool in the box search.",
);
const extension = refused(
  "load something of its own for this request",
  "What that reaches is not judged by the policy of the box: leave it out.",
);
const speaks: Rule = (value, path, terms) => {
  list(setting)(value, path, terms);
  if ([value ?? []].flat().some((one) => one !== "text")) terms.add("audio");
};

/** Of compatible servers: how an answer must look. */
const localFields: Fields = {
  grammar: text,
  guided_json: textOr(schema),
  guided_regex: text,
  guided_grammar: text,
  guided_choice: list(text),
  structured_outputs: object({ json: textOr(schema), regex: text, grammar: text, choice: list(text) }),
  stop_token_ids: list(setting),
  bad_words: list(text),
  provider: object({ order: list(text), only: list(text), ignore: list(text) }),
};

/** Of compatible services: what reaches further than the answer. */
const refusedFields: Fields = {
  models: otherModel,
  fallbacks: otherModel,
  route: otherModel,
  web_search_options: searches,
  search_parameters: searches,
  search_options: searches,
  enable_search: searches,
  plugins: extension,
  data_sources: extension,
  documents: extension,
  chat_template: extension,
  kv_transfer_params: extension,
  disaggregated_params: extension,
  bootstrap_host: address,
  api_base: address,
  base_url: address,
  cached_content: kept,
  extra_body: unknown,
  extra_headers: unknown,
};

export const openAiChatBody: Rule = object({
  ...localFields,
  ...refusedFields,
  model: text,
  messages,
  tools,
  functions: list(declared),
  tool_choice: textOr(object({ type: setting, function: called, custom: called, allowed_tools: data })),
  function_call: textOr(called),
  response_format: object({
    type: setting,
    schema,
    json_schema: object({ name: text, description: text, schema }),
  }),
  prediction: object({ type: setting, content: textOr(parts) }),
  audio: costing("audio", object({ format: setting, voice: textOr(object({ id: text })) })),
  modalities: speaks,
  stop: list(text),
  metadata: map(text),
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  moderation: object({ model: text }),
  logit_bias: map(setting),
  n: count,
  best_of: count,
  service_tier: priced("service_tier", "auto", "default"),
  // Of services that pass it on to Anthropic.
  speed: priced("speed", "standard"),
  inference_geo: priced("inference_geo", "global"),
});
