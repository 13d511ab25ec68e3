/**
 * Keys, in both directions: from a box only the placeholder is taken, and the real key is put in its place. A key is in
 * no message, no log and no answer.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { type ModelProvider, placeholderKey } from "../../contract/model/api.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { KeyOf, ProviderKey } from "../../ports/model-gateway.ts";

const bearer = `bearer ${placeholderKey}`;
const hasPlaceholder = (value: string): boolean => value === placeholderKey;
const never = (): boolean => false;

/** Every header that a vendor, or something before it, could take a credential from. */
const credentialHeaders: Readonly<Record<string, (value: string) => boolean>> = {
  authorization: (value) => value.toLowerCase() === bearer,
  "x-api-key": hasPlaceholder,
  "x-goog-api-key": hasPlaceholder,
  "api-key": hasPlaceholder,
  "proxy-authorization": never,
  cookie: never,
  "x-goog-iam-authorization-token": never,
  "x-amz-security-token": never,
  // A browser cannot set headers on a WebSocket, so OpenAI also takes a key from here.
  "sec-websocket-protocol": (value) => !/key|auth|token/i.test(value),
};

const credentialParameters = new Set([
  "key",
  "api_key",
  "api-key",
  "apikey",
  "access_token",
  "oauth_token",
  "token",
]);

const foreign = (where: string): AgentBoxError =>
  new AgentBoxError("model.foreign_key", `The request has a credential of its own (${where}).`, {
    hint: `Send ${placeholderKey}, or none: the gateway puts in the key that the host has.`,
  });

/** SECURITY: servers behind a gateway interface cannot tell `x_api_key` from `x-api-key`. */
const nameOf = (name: string): string => name.toLowerCase().replaceAll("_", "-");

/**
 * SECURITY: with a key of its own a box could use an account that is not counted, and whose owner reads along. Takes
 * the placeholder out of the query.
 */
export function takePlaceholder(rawHeaders: readonly string[], query: URLSearchParams): void {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = nameOf(rawHeaders[i]!);
    const isOurs = Object.hasOwn(credentialHeaders, name) ? credentialHeaders[name] : undefined;
    if (isOurs !== undefined && !isOurs(rawHeaders[i + 1]!.trim())) throw foreign(name);
  }
  for (const name of new Set(query.keys())) {
    if (!credentialParameters.has(name.toLowerCase())) continue;
    if (!query.getAll(name).every(hasPlaceholder)) throw foreign(`?${name}=`);
    query.delete(name);
  }
}

export interface Key {
  readonly headers: readonly string[];
  readonly value: string | undefined;
  /** A value that must be among the program's own `anthropic-beta`. */
  readonly beta?: string | undefined;
  /** Where it is taken, when that is not the provider's own address. */
  readonly baseUrl?: string | undefined;
  readonly sent?: (() => void) | undefined;
}

export const noKey: Key = { headers: [], value: undefined };

/** Anthropic takes the token of a subscription only from those who say that it is one. */
const loginBeta = "oauth-2025-04-20";
const isLoginToken = (value: string): boolean => value.startsWith("sk-ant-oat");
/** SECURITY: a line end in a key would be the end of the header, and what follows another one. */
const sendable = /^[\x21-\x7e]+$/;

export async function readKey(box: GateBox, provider: ModelProvider, keyOf: KeyOf): Promise<Key> {
  const key = await keyOf(box, provider);
  if (key === undefined) return noKey;
  const values = [key.value, ...Object.values(key.headers ?? {})];
  if (!values.every((value) => sendable.test(value))) {
    throw new AgentBoxError(
      "model.no_key",
      `The key for the model provider "${provider.name}" has characters that no header can hold.`,
      { hint: "Save it again, as one line without spaces." },
    );
  }
  return keyFor(provider, key);
}

function keyFor({ api }: ModelProvider, key: ProviderKey): Key {
  const { value, form, baseUrl, sent } = key;
  const isLogin = form === "login" || (api === "anthropic" && isLoginToken(value));
  const header =
    api === "gemini"
      ? ["x-goog-api-key", value]
      : api === "anthropic" && !isLogin
        ? ["x-api-key", value]
        : ["authorization", `Bearer ${value}`];
  const headers = [...header, ...Object.entries(key.headers ?? {}).flat()];
  return { headers, value, baseUrl, sent, beta: api === "anthropic" && isLogin ? loginBeta : undefined };
}

/** The program's headers with the key; its own list of betas stays, and has what the key needs. */
export function keyedHeaders(sent: readonly string[], { headers, beta }: Key): string[] {
  if (beta === undefined) return [...sent, ...headers];
  const betas: string[] = [];
  const others: string[] = [];
  for (let i = 0; i < sent.length; i += 2) {
    if (sent[i]!.toLowerCase() === "anthropic-beta") betas.push(...sent[i + 1]!.split(","));
    else others.push(sent[i]!, sent[i + 1]!);
  }
  const all = new Set([...betas.map((one) => one.trim()).filter((one) => one !== ""), beta]);
  return [...others, "anthropic-beta", [...all].join(","), ...headers];
}

/** SECURITY: vendors repeat a key they do not like in their answer. */
export const maskKey = (text: string, key: string | undefined): string =>
  key === undefined ? text : text.replaceAll(key, placeholderKey);

const notAnswered = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "set-cookie",
  "alt-svc",
]);

/** The vendor's headers as the program gets them. */
export function answerHeaders(rawHeaders: readonly string[], key: string | undefined): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = rawHeaders[i + 1]!;
    if (notAnswered.has(name) || name.startsWith("sec-websocket-")) continue;
    // SECURITY: a header that repeats the key would hand it to the box.
    if (key !== undefined && value.includes(key)) continue;
    headers.push(rawHeaders[i]!, value);
  }
  return headers;
}
