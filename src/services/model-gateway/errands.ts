/**
 * What a request would make the vendor fetch, or talk to, on behalf of the box. SECURITY: the vendor's machines are no
 * part of the box's policy. An address in a request (a picture to look at, a page to read, an MCP server to ask) would
 * be called from there, and carry whatever the box wants to tell to whoever it likes. Agents fetch things in the box.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { ModelApi } from "../../contract/model/api.ts";
import { type JsonObject, asObject, asObjects, asText } from "./json.ts";

/** Throws `model.bad_request` for a request that names such an address. Pure. */
export function refuseErrands(api: ModelApi, body: JsonObject): void {
  const errand = findErrand[api](body);
  if (errand === undefined) return;
  throw new AgentBoxError("model.bad_request", `The request would make the provider ${errand}.`, {
    hint: "That would go around the policy of the box: let a tool in the box fetch it, and send what it found.",
  });
}

const fetchAddress = "fetch something from an address";
const askServer = "talk to an MCP server";
const openNetwork = "run a program with a network of its own";

const findErrand: Readonly<Record<ModelApi, (body: JsonObject) => string | undefined>> = {
  anthropic(body) {
    if (asObjects(body["mcp_servers"]).length > 0) return askServer;
    if (asObjects(body["tools"]).some(({ type }) => asText(type)?.startsWith("web_fetch")))
      return fetchAddress;
    return first(withContent(body["system"], body["messages"]), ({ source }) =>
      asObject(source)["type"] === "url" ? fetchAddress : undefined,
    );
  },
  "openai-responses"(body) {
    const tool = first(asObjects(body["tools"]), hostedTool);
    return tool ?? first(withContent(body["input"]), partWithAddress);
  },
  "openai-chat": (body) => first(withContent(body["messages"]), partWithAddress),
  gemini(body) {
    const reads = (tool: JsonObject): boolean => "urlContext" in tool || "url_context" in tool;
    if (listed(body["tools"]).some(reads)) return fetchAddress;
    const system = body["systemInstruction"] ?? body["system_instruction"];
    return first([...listed(body["contents"]), ...listed(system)], ({ parts }) =>
      listed(parts).some((part) => "fileData" in part || "file_data" in part) ? fetchAddress : undefined,
    );
  },
};

function hostedTool(tool: JsonObject): string | undefined {
  if (tool["type"] === "mcp") return askServer;
  const place = { ...asObject(tool["container"]), ...asObject(tool["environment"]) };
  const policy = place["network_policy"];
  return policy === undefined || asObject(policy)["type"] === "disabled" ? undefined : openNetwork;
}

/** A picture or file by its address; `data:` is the thing itself. Its name is a text in one API and an object in the other. */
function partWithAddress({ type, image_url, file_url }: JsonObject): string | undefined {
  const isPart = ["input_image", "image_url", "input_file", "computer_screenshot"].includes(
    asText(type) ?? "",
  );
  const address = asText(image_url) ?? asText(asObject(image_url)["url"]) ?? asText(file_url);
  return isPart && address !== undefined && !/^data:/i.test(address) ? fetchAddress : undefined;
}

/** A list of one may be written without the brackets. */
const listed = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? asObjects(value) : [asObject(value)];

/** Messages, the parts of their contents, and the parts of tool results in those: where vendors look, and no deeper. */
function withContent(...places: readonly unknown[]): readonly JsonObject[] {
  const messages = places.flatMap(asObjects);
  const parts = messages.flatMap(inside);
  return [...messages, ...parts, ...parts.flatMap(inside)];
}

const inside = ({ content, output }: JsonObject): readonly JsonObject[] => [
  ...asObjects(content),
  ...listed(output),
];

function first(
  entries: readonly JsonObject[],
  find: (entry: JsonObject) => string | undefined,
): string | undefined {
  for (const entry of entries) {
    const found = find(entry);
    if (found !== undefined) return found;
  }
  return undefined;
}
