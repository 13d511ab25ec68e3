/**
 * Where a request goes: `/<provider>/<path>?<query>`, and only to paths that are on a list. A provider is there to be
 * asked for answers; it must not become a way to everything else its vendor offers.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { ModelProvider, ModelSpec, ProviderApi } from "../../contract/model/api.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import type { ModelLanguage } from "./language.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";

export type Endpoint =
  | { readonly kind: "answer" | "count"; readonly language: ModelLanguage }
  /** A request without a model: a list of models, or a probe. */
  | { readonly kind: "look" };

interface Vendor {
  readonly languages: readonly ModelLanguage[];
  readonly looks: RegExp;
  readonly query: ReadonlySet<string>;
}

const vendors: Readonly<Record<ProviderApi, Vendor>> = {
  anthropic: {
    languages: [anthropic],
    looks: /^\/(?:v1\/models(?:\/[\w.:@-]+)?)?$/,
    query: new Set(["beta", "limit", "before_id", "after_id"]),
  },
  openai: {
    languages: [openAiResponses, openAiChat],
    looks: /^\/(?:v1\/models(?:\/[\w.:@-]+)?)?$/,
    query: new Set(["client_version", "limit", "after", "order"]),
  },
  gemini: {
    languages: [gemini],
    looks: /^\/(?:v1(?:beta|alpha)?\/models(?:\/[\w.-]+)?)?$/,
    query: new Set(["alt", "pageSize", "pageToken"]),
  },
};

/**
 * SECURITY: no percent sign, backslash, empty or dot segment: what is judged here is read again by the vendor, and
 * `/anthropic/../openai` or `%2e%2e` must not mean another path there.
 */
const plainPath = /^(?:\/[\w.~:@+,=-]+)*\/?$/;
const plainValue = /^[\w.~=-]{0,256}$/;

export interface Target {
  readonly provider: ModelProvider;
  readonly path: string;
  readonly query: URLSearchParams;
}

export function readTarget(spec: ModelSpec | undefined, url: string): Target {
  const [path, query] = splitOnce(url, "?");
  const [, name = "", rest = ""] = /^\/([^/]*)(.*)$/s.exec(path) ?? [];
  const provider = spec?.providers.find((one) => one.name === name);
  if (provider === undefined) {
    const names = spec?.providers.map((one) => one.name) ?? [];
    throw new AgentBoxError(
      "model.unknown_provider",
      names.length === 0 ? "This box has no model." : "This box has no model provider of this name.",
      { hint: names.length === 0 ? "Set [model] in agentbox.toml." : `It has: ${names.join(", ")}.` },
    );
  }
  const isPlain = plainPath.test(rest) && !rest.split("/").some((part) => part === "." || part === "..");
  if (!isPlain) throw refused("The path cannot be read in exactly one way.");
  return { provider, path: rest === "" ? "/" : rest, query: new URLSearchParams(query) };
}

export function findEndpoint({ provider, path }: Target, method: string): Endpoint {
  const { languages, looks } = vendors[provider.api];
  if (method === "GET" || method === "HEAD") {
    if (looks.test(path)) return { kind: "look" };
  } else if (method === "POST") {
    for (const language of languages) {
      const kind = language.match(path);
      if (kind !== undefined) return { kind, language };
    }
  }
  throw refused(`The model gateway does not pass on ${method} requests to this path.`);
}

/** The query as it is sent; credentials have been taken out of it before. */
export function sentQuery({ provider, query }: Target): string {
  const { query: known } = vendors[provider.api];
  for (const [name, value] of query) {
    if (!known.has(name) || !plainValue.test(value))
      throw refused("The query has a parameter that is not passed on.");
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

const refused = (message: string): AgentBoxError =>
  new AgentBoxError("model.bad_request", message, {
    hint: "The gateway takes requests for answers, counts of tokens and lists of models.",
  });

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
