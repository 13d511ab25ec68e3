/**
 * The permitted content of a request's body: rules as data, and the walk over them. Each rule takes a value where it
 * stands, and refuses it, or notes its effect on the price. SECURITY: a rule lists the permitted fields; everything
 * else is refused, because a vendor adds fields that fetch, keep or run something, without notice.
 */
import { AgentBoxError } from "../../../base/errors.ts";
import { printable } from "../../../base/printable.ts";
import { type JsonObject, isObject } from "../json.ts";

/** Where a value stands; made into a text only for a refusal. */
export interface FieldPath {
  readonly up: FieldPath | undefined;
  readonly step: string | number;
}

export type Rule = (value: unknown, path: FieldPath, terms: Set<string>) => void;
export type Fields = Readonly<Record<string, Rule>>;

const longestStep = 40;

function fieldPathText(path: FieldPath): string {
  const steps: string[] = [];
  for (let at: FieldPath | undefined = path; at !== undefined && at.step !== ""; at = at.up)
    steps.unshift(
      typeof at.step === "number" ? `[${at.step}]` : `.${printable(at.step.slice(0, longestStep))}`,
    );
  return steps.join("").replace(/^\./, "") || "the body";
}

const below = (up: FieldPath, step: string | number): FieldPath => ({ up, step });

export function refuseRemoteFetch(path: FieldPath, fetch: string, hint: string): never {
  throw new AgentBoxError(
    "model.bad_request",
    `The request would make the provider ${fetch} (${fieldPathText(path)}).`,
    { hint },
  );
}

function refuseUnknown(path: FieldPath, problem: string): never {
  throw new AgentBoxError("model.bad_request", `The request has ${problem} (${fieldPathText(path)}).`, {
    hint: "What the gateway does not know might make the provider fetch something past the box's policy: leave it out, or update AgentBox.",
  });
}

/** Asks for nothing. An empty object can be a switch that is on. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);

/** Allowed to be absent, and nothing else. */
export const refused =
  (fetch: string, hint: string): Rule =>
  (value, path) => {
    if (!isNothing(value)) refuseRemoteFetch(path, fetch, hint);
  };

/** Read only by the model, so an address in it is a text. */
export const text: Rule = (value, path) => {
  if (typeof value === "object" && value !== null) refuseUnknown(path, "something else where a text belongs");
};

/** Passed on without being looked at: what a tool of the box is called with, or has answered. */
export const data: Rule = () => undefined;

/** A word, as settings have them. No dot or slash: it can be no host, address, path or name of something kept. */
const word = /^(?:[\w -]{0,64}|\d{1,4}:\d{1,4})$/;
const deepest = 32;

const wordsOf = (text: string): readonly string[] => text.split(" ");
/** SECURITY: `kv_transfer_params.remote_host` makes one well-known server connect to where the request says. */
const addressWords = new Set([
  ...wordsOf("url uri urls uris host hosts hostname addr address endpoint server servers proxy hook webhook"),
  ...wordsOf("callback remote path paths file files link href src"),
]);
/** Services' names for tools and memories of their own, for which a switch is enough. */
const remoteFetches = new Set([
  ...wordsOf(
    "web search browse browsing browser fetch crawl grounding retrieval mcp plugin plugins connector",
  ),
  ...wordsOf("connectors container sandbox thread assistant skill skills"),
]);
/** SECURITY: services in between take from the body whose account is used, and what answers in place of the model that was judged. */
const choices = new Set([
  ...wordsOf(
    "key keys apikey token credential credentials secret password organization organisation org project",
  ),
  ...wordsOf("tenant account workspace billing model models engine deployment preset agent agents fallback"),
  ...wordsOf("fallbacks"),
]);

const wordsIn = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);

function isHarmlessName(name: string, value: unknown): boolean {
  if (isNothing(value)) return true;
  const words = wordsIn(name);
  if (words.some((one) => remoteFetches.has(one))) return false;
  // A number or a switch names no account and no model.
  const mayName = typeof value === "string" || typeof value === "object";
  if (mayName && words.some((one) => choices.has(one))) return false;
  return (
    value === true ||
    !words.some((one) => addressWords.has(one) || one.endsWith("url") || one.endsWith("uri"))
  );
}

/** A setting: numbers, switches and words, at any depth. Unknown fields pass as this or not at all. */
export const setting: Rule = (value, path) => requireSetting(value, path, 0);

function requireSetting(value: unknown, path: FieldPath, depth: number): void {
  if (typeof value === "string") {
    if (!word.test(value)) refuseUnknown(path, "a text in a field that the gateway does not know");
  } else if (typeof value === "object" && value !== null) {
    if (depth > deepest) refuseUnknown(path, "a value that is nested too deep");
    for (const [step, one] of Object.entries(value)) {
      const at = below(path, Array.isArray(value) ? Number(step) : step);
      if (!Array.isArray(value)) requireHarmlessName(step, one, at);
      requireSetting(one, at, depth + 1);
    }
  }
}

function requireHarmlessName(name: string, value: unknown, path: FieldPath): void {
  if (!isHarmlessName(name, value)) refuseUnknown(path, "a field that the gateway does not know");
}

/** Some vendors write a value with the name of its field before it. */
const termOf = (name: string, value: unknown): string =>
  String(value).slice(0, 64).toLowerCase().replace(`${name}_`, "");

/** SECURITY: some servers read numbers from texts, so what is counted must be a number. */
export const count: Rule = (value, path) => {
  if (isNothing(value) || (Number.isSafeInteger(value) && (value as number) >= 0)) return;
  refuseUnknown(path, "something else where a number belongs");
};

/** A setting that has a price: what is not standard is noted. */
export const priced =
  (name: string, ...standard: readonly string[]): Rule =>
  (value, path, terms) => {
    setting(value, path, terms);
    if (isNothing(value)) return;
    const term = termOf(name, value);
    if (!standard.includes(term)) terms.add(`${name}=${term}`);
  };

/** The same rule, with a price of its own. */
export const costing =
  (term: string, rule: Rule): Rule =>
  (value, path, terms) => {
    rule(value, path, terms);
    if (!isNothing(value)) terms.add(term);
  };

const fetchesAddress = "fetch something from an address";
const fetchHint =
  "That would go around the policy of the box: let a tool in the box fetch it, and send what it found.";

export const address: Rule = refused(fetchesAddress, fetchHint);
export const kept: Rule = refused(
  "use something that is kept in the account there",
  "The gateway cannot tell whose it is: send the thing itself.",
);
export const mcpServer: Rule = refused(
  "talk to an MCP server",
  "That would go around the policy of the box: let the agent in the box talk to it, under [mcp.servers] in agentbox.toml.",
);
export const program: Rule = refused(
  "run programs on its own machines",
  "The policy and the limits of the box do not hold there: let the agent run them in the box.",
);
export const otherModel: Rule = refused(
  "ask another model than the one that was judged",
  "Name one model, and ask again where it fails.",
);
export const payer: Rule = refused(
  "count this for another account",
  "The host's key decides who pays: leave it out.",
);

const base64 = /^[\w+/=\s-]*$/;
const dataUrl = /^data:/i;

/** The thing itself as a `data:` URL. SECURITY: some servers trim the text or open paths, so nothing else passes. */
export const dataOnly: Rule = (value, path) => {
  if (value === undefined || value === null) return;
  if (typeof value !== "string" || !dataUrl.test(value)) refuseRemoteFetch(path, fetchesAddress, fetchHint);
};

/** The thing itself in base64. SECURITY: some services take an address in the same field. */
export const encoded: Rule = (value, path) => {
  if (value === undefined || value === null) return;
  if (typeof value !== "string" || (!base64.test(value) && !dataUrl.test(value)))
    refuseRemoteFetch(path, fetchesAddress, fetchHint);
};

const references = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

/** A JSON schema. SECURITY: a validator may look up the references in it. */
export const schema: Rule = (value, path) => {
  if (typeof value === "string") refuseUnknown(path, "a text where a schema belongs");
  const left: unknown[] = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one !== "object" || one === null) continue;
    for (const [name, inner] of Object.entries(one)) {
      if (references.has(name) && typeof inner === "string" && !inner.startsWith("#"))
        refuseRemoteFetch(
          below(path, name),
          fetchesAddress,
          "Put what the schema refers to into the schema.",
        );
      left.push(inner);
    }
  }
};

/** A list. One may be written without the brackets. */
export const list =
  (rule: Rule): Rule =>
  (value, path, terms) => {
    if (!Array.isArray(value)) return rule(value, path, terms);
    value.forEach((one, index) => rule(one, below(path, index), terms));
  };

export const textOr =
  (rule: Rule): Rule =>
  (value, path, terms) => {
    if (typeof value !== "string") rule(value, path, terms);
  };

/** Names that the program chose, each with a value of the same kind. */
export const map =
  (rule: Rule): Rule =>
  (value, path, terms) => {
    if (value === undefined || value === null) return;
    if (!isObject(value)) refuseUnknown(path, "something else where an object belongs");
    for (const [name, one] of Object.entries(value)) rule(one, below(path, name), terms);
  };

const folded = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

export interface ObjectOptions {
  /** The rule for fields that are not listed; without it they may be settings. */
  readonly rest?: Rule;
  /** Each name may also be written with underscores, which the vendor takes as the same. */
  readonly hasTwoSpellings?: boolean;
}

const camel = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** An object with these fields. */
export function object(
  fields: Fields,
  { rest = setting, hasTwoSpellings = false }: ObjectOptions = {},
): Rule {
  const known = new Set(Object.keys(fields).map(folded));
  return (value, path, terms) => {
    if (value === undefined || value === null) return;
    if (!isObject(value)) refuseUnknown(path, "something else where an object belongs");
    for (const [written, one] of Object.entries(value)) {
      const at = below(path, written);
      const name = hasTwoSpellings ? camel(written) : written;
      if (Object.hasOwn(fields, name)) {
        fields[name]!(one, at, terms);
        continue;
      }
      // SECURITY: servers that do not mind the case would read it as the field that was not judged.
      if (known.has(folded(written))) refuseUnknown(at, "a field with an unusual spelling");
      requireHarmlessName(written, one, at);
      rest(one, at, terms);
    }
  };
}

/** For what decides by its mere presence. */
export const unknown: Rule = (value, path) => {
  if (value !== undefined && value !== null) refuseUnknown(path, "a field that the gateway does not know");
};

export interface KindOptions {
  /** The kind of an object that does not say. */
  readonly missing?: (value: JsonObject) => Rule | undefined;
  /** The names that are listed, for the refusal. */
  readonly noun: string;
}

/** Objects that say by `type` what they are. */
export const kinds =
  (known: Fields, { missing, noun }: KindOptions): Rule =>
  (value, path, terms) => {
    if (value === undefined || value === null) return;
    if (!isObject(value)) refuseUnknown(path, `something else where ${noun} belongs`);
    const type = value["type"];
    const isNamed = typeof type === "string" && Object.hasOwn(known, type);
    const rule = isNamed ? known[type] : (type ?? undefined) === undefined ? missing?.(value) : undefined;
    if (rule === undefined) {
      const shown = typeof type === "string" ? `the type "${printable(type.slice(0, 64))}"` : "no known type";
      refuseUnknown(path, `${noun} of ${shown}, which the gateway does not know`);
    }
    rule(value, path, terms);
  };

export const root: FieldPath = { up: undefined, step: "" };
