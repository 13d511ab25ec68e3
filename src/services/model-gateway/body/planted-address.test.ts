/**
 * Property: for a body of any shape, with an address anywhere in it, the request is refused, or the address is a text
 * that the model reads. The list of such texts is written here a second time, and not taken from the code under test.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelApi } from "../../../contract/model/api.ts";
import { away, remoteFetches } from "./remote-fetches.fixture.ts";
import { judgeBody } from "./judge-body.ts";
import { usual } from "./usual-bodies.fixture.ts";

type Step = string | number;
type Json = Readonly<Record<string, unknown>>;

const seed = 20_261_118;
const runs = 10_000;
const words = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(" "));

/** Texts for the model, names that the program gave, and what it is handed back. */
const texts = new Set(
  words(
    "text content parts contents input output system instructions system_instruction thinking signature title context",
    "name description id call_id tool_use_id tool_call_id arguments refusal reasoning_content encrypted_content",
    "model user user_id stop stop_sequences filename media_type mimeType previous_response_id prompt_cache_key",
    "allowed_domains include summary thoughtSignature definition tool_choice cited_text document_title",
    "stopSequences systemInstruction allowedFunctionNames responseMimeType city",
  ),
);
/** Of the box's own tools, below which everything is theirs, and records of what was said. */
const opaque = new Set(
  words(
    "arguments args response parameters input_schema parametersJsonSchema action metadata client_metadata annotations",
    "logprobs schema responseSchema",
  ),
);

function isForTheModel(path: readonly Step[], holder: Json): boolean {
  const names = path.filter((step) => typeof step === "string");
  const last = names.at(-1) ?? "";
  // The arguments of a tool call; the input of Responses is the conversation, and stands at the top.
  if (names.indexOf("input", 1) !== -1 || names.some((name) => opaque.has(name))) return true;
  const type = String(holder["type"]);
  if (last === "source") return type === "search_result" || names.includes("citations");
  if (last === "url") return type === "web_search_result" || names.includes("citations");
  return last === "data" ? type === "redacted_thinking" || type === "text" : texts.has(last);
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every path in a value: each field and each entry of a list, however deep. */
function pathsOf(value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const steps: readonly Step[] = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value);
  const below = steps.flatMap((step) => pathsOf((value as Json)[step], [...path, step]));
  return [path, ...below];
}

const at = (value: unknown, path: readonly Step[]): unknown =>
  path.reduce<unknown>((inside, step) => (inside as Json)[step], value);

function planted(value: unknown, [step, ...rest]: readonly Step[], what: unknown): unknown {
  if (step === undefined) return what;
  if (Array.isArray(value))
    return value.map((one, index) => (index === step ? planted(one, rest, what) : one));
  return { ...(value as Json), [step]: planted((value as Json)[step], rest, what) };
}

/** Names by which some server takes an address, in the spellings that some server takes, and unknown names. */
const names = fc.oneof(
  fc.constantFrom(
    ...words(
      "url image_url imageUrl file_url fileUrl file_uri fileUri uri video_url audio_url video audio image images",
      "server_url mcp_servers mcpServers source src href file_data fileData data base_url api_base endpoint host",
      "webhook callback_url remote_host documents plugins prompt variables container tools tool input_image_mask",
      "IMAGE_URL ImageUrl FileData File_Data Url URL $ref web_search_options search_parameters context link content",
    ),
  ),
  fc.stringMatching(/^[a-z]{1,8}(_[a-z]{1,6})?$/),
);

const plants = names.chain((name) =>
  fc.constantFrom<unknown>(
    away,
    [away],
    { [name]: away },
    { [name]: { [name]: [{ [name]: away }] } },
    { url: away },
    { type: "url", url: away },
    { type: name, url: away },
    { type: "image", source: { type: "url", url: away } },
    { type: "document", source: { type: "url", url: away } },
    { type: "input_image", image_url: away },
    { type: "image_url", image_url: { url: away } },
    { fileData: { fileUri: away } },
    { type: "mcp", server_url: away },
    ` ${away}`,
    "HTTPS://attacker.test/",
    "//attacker.test/",
    "attacker.test",
  ),
);

const bodies: readonly (readonly [ModelApi, object])[] = [
  ...remoteFetches.flatMap(({ api, request, harmless }) =>
    [request, ...(harmless === undefined ? [] : [harmless])].map((body) => [api, body] as const),
  ),
  // These have the most paths.
  ...Array.from({ length: 8 }, () => Object.entries(usual) as [ModelApi, object][]).flat(),
];

describe(`an address anywhere in a request (seed ${seed})`, () => {
  it("is refused, or is a text for the model", () => {
    let passed = 0;
    const property = fc.property(
      fc.nat(),
      fc.nat(),
      names,
      plants,
      fc.boolean(),
      (which, where, name, plant, isBeside) => {
        const [api, body] = bodies[which % bodies.length]!;
        const paths = pathsOf(body);
        const chosen = paths[where % paths.length]!;
        const isField = chosen.length === 0 || (isBeside && isObject(at(body, chosen)));
        const sent = planted(body, isField ? [...chosen, name] : chosen, plant) as Json;
        try {
          judgeBody(api, sent);
        } catch {
          return;
        }
        passed += 1;
        for (const path of pathsOf(sent)) {
          const value = at(sent, path);
          if (typeof value !== "string" || !/attacker\.test/i.test(value)) continue;
          const holder = at(
            sent,
            path.slice(
              0,
              path.findLastIndex((step) => typeof step === "string"),
            ),
          ) as Json;
          expect(isForTheModel(path, holder), `${api} at ${path.join(".")}: ${JSON.stringify(sent)}`).toBe(
            true,
          );
        }
      },
    );
    fc.assert(property, { numRuns: runs, seed });
    // Otherwise everything is refused, and nothing was shown.
    expect(passed).toBeGreaterThan(runs / 50);
  });

  it("is not what these requests are refused for without one", () => {
    for (const [api, body] of Object.entries(usual))
      expect(() => judgeBody(api as ModelApi, body as Json)).not.toThrow();
  });
});
