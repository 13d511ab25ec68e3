/**
 * Actions that a request would make the vendor do for the box: fetch, keep or run something. SECURITY: the vendor's
 * machines are no part of the box's policy. An address in a request (a picture to look at, a page to read, an MCP
 * server to ask) would be called from there, and carry any data out of the box to any server. Agents fetch things in
 * the box.
 */
import type { ModelApi } from "../../../contract/model/api.ts";
import type { JsonObject } from "../json.ts";
import { anthropicBody } from "./anthropic-body.ts";
import { geminiBody } from "./gemini-body.ts";
import { openAiChatBody } from "./openai-chat-body.ts";
import { openAiResponsesBody } from "./openai-responses-body.ts";
import { type Rule, root } from "./rule.ts";

const bodies: Readonly<Record<ModelApi, Rule>> = {
  anthropic: anthropicBody,
  "openai-responses": openAiResponsesBody,
  "openai-chat": openAiChatBody,
  gemini: geminiBody,
};

/** Throws `model.bad_request`. Returns what has not the standard price, such as `speed=fast`. Pure. */
export function judgeBody(api: ModelApi, body: JsonObject): readonly string[] {
  const terms = new Set<string>();
  bodies[api](body, root, terms);
  return [...terms];
}
