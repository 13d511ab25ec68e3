/** Gemini's generateContent, v1 and v1beta, as of November 2026. Each name has two spellings, and the vendor takes both. */
import {
  type Fields,
  type Rule,
  address,
  costing,
  data,
  encoded,
  kept,
  list,
  map,
  mcpServer,
  object as objectOf,
  otherModel,
  priced,
  program,
  refused,
  schema,
  setting,
  text,
  textOr,
  unknown,
} from "./rule.ts";

const object = (fields: Fields): Rule => objectOf(fields, { hasTwoSpellings: true });
/** A part or a tool is what its fields are, also where they are empty. */
const closed = (fields: Fields): Rule => objectOf(fields, { hasTwoSpellings: true, rest: unknown });

const blob: Rule = (value, path, terms) => {
  object({ mimeType: text, data: encoded, displayName: text })(value, path, terms);
  const { mimeType, mime_type } = value as Readonly<Record<string, unknown>>;
  if (/audio/i.test(`${String(mimeType)} ${String(mime_type)}`)) terms.add("audio");
};

const functionResponse = object({
  id: text,
  name: text,
  response: data,
  parts: list(closed({ inlineData: blob, fileData: address, mediaProcessing: setting })),
});

const part = closed({
  text,
  thought: setting,
  thoughtSignature: text,
  inlineData: blob,
  functionCall: object({ id: text, name: text, args: data, partialArgs: data }),
  functionResponse,
  executableCode: object({ id: text, code: text, language: setting }),
  codeExecutionResult: object({ id: text, outcome: setting, output: text }),
  videoMetadata: object({ startOffset: text, endOffset: text }),
  mediaResolution: setting,
  fileData: address,
});
const contents = textOr(list(textOr(object({ role: setting, parts: textOr(list(textOr(part))) }))));

const declaration = object({
  name: text,
  description: text,
  parameters: schema,
  parametersJsonSchema: schema,
  response: schema,
  responseJsonSchema: schema,
});
const otherSearch = refused(
  "ask another company's service",
  "That would go around the policy of the box: let a tool in the box ask it.",
);
const tools = list(
  closed({
    functionDeclarations: list(declaration),
    // It looks into the service's own index, and opens no page.
    googleSearch: costing(
      "web_search",
      object({ excludeDomains: list(text), timeRangeFilter: object({ startTime: text, endTime: text }) }),
    ),
    googleSearchRetrieval: costing("web_search", setting),
    computerUse: object({ excludedPredefinedFunctions: list(text) }),
    urlContext: address,
    codeExecution: program,
    mcpServers: mcpServer,
    fileSearch: kept,
    retrieval: kept,
    googleMaps: otherSearch,
    enterpriseWebSearch: otherSearch,
    exaAiSearch: otherSearch,
    parallelAiSearch: otherSearch,
  }),
);

/** Anything but text has a price of its own. */
const answersWith: Rule = (value, path, terms) => {
  list(setting)(value, path, terms);
  // SECURITY: the vendor also takes the numbers of its enumerations.
  if ([value ?? []].flat().some((one) => typeof one !== "string" || one.toUpperCase() !== "TEXT"))
    terms.add("media");
};

const generationConfig = object({
  responseSchema: schema,
  responseJsonSchema: schema,
  responseMimeType: text,
  responseFormat: schema,
  responseModalities: answersWith,
  stopSequences: list(text),
  routingConfig: otherModel,
  modelSelectionConfig: otherModel,
});

const fields: Fields = {
  contents,
  systemInstruction: contents,
  tools,
  toolConfig: object({
    functionCallingConfig: object({ allowedFunctionNames: list(text) }),
    retrievalConfig: object({ languageCode: text }),
  }),
  safetySettings: list(setting),
  generationConfig,
  labels: map(text),
  model: text,
  serviceTier: priced("service_tier", "standard", "unspecified"),
  cachedContent: kept,
  continuationToken: kept,
  modelArmorConfig: kept,
};

/** A count may hold the whole request once more. */
export const geminiBody: Rule = object({ ...fields, generateContentRequest: object(fields) });
