/**
 * The key for one request to a model: from the vault where it has one, otherwise from a variable of the host. Found
 * anew for each request, so a secret that was changed or a grant that was taken back counts at once. Where a secret
 * should go in and cannot, the request is refused; nothing else is sent in its place.
 */
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { portOf } from "../../base/url-address.ts";
import { type ModelProvider, builtInProviders } from "../../contract/model/api.ts";
import type { SecretDenial } from "../../contract/network/policy.ts";
import { agentLogins, agentOfLogin, loginSecret } from "../../contract/secret/agent-login.ts";
import type { SecretInfo } from "../../contract/secret/secret.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { ProviderKey } from "../../ports/model-gateway.ts";
import type { Using } from "../using.ts";
import type { GrantSubject, SecretGrants } from "../secrets/secret-grants.ts";
import { loginUse } from "../secrets/use.ts";

export async function findModelKey(
  core: Using<"clock" | "connections" | "egressLog" | "modelKeys" | "secretGrants" | "store" | "vault">,
  box: GateBox,
  provider: ModelProvider,
): Promise<ProviderKey | undefined> {
  const found = await core.ports.store.findBox(box.name);
  const subject = found?.incarnation === box.incarnation ? found : undefined;
  const source = await chooseKey(core, provider, { subject });
  if (source.kind === "secret") return fromVault(core, box, provider, source.secret);
  if (source.kind === "variable") return { value: source.value, form: "key" };
  if (source.kind === "none") return undefined;
  if (source.login !== undefined)
    note(core, box, provider, { secret: source.login, reason: "secret_not_granted" });
  throw source.refusal;
}

/** Where the key of a provider comes from. */
type KeySource =
  | { readonly kind: "secret"; readonly secret: string }
  | { readonly kind: "variable"; readonly value: string }
  /** The provider takes none. */
  | { readonly kind: "none" }
  /** `login` is there and may not be used. */
  | { readonly kind: "missing"; readonly refusal: AgentBoxError; readonly login?: string };

export interface KeyCore extends Using<"vault" | "modelKeys"> {
  readonly secretGrants: Pick<SecretGrants, "covers">;
}

interface Asking {
  /** The box that would use the key, or is to be made; without it no login counts. */
  readonly subject: GrantSubject | undefined;
  /** Host variables that were sent along. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

async function chooseKey(
  core: KeyCore,
  provider: ModelProvider,
  { subject, variables = {} }: Asking,
): Promise<KeySource> {
  const { keySecret, keyVariable } = provider;
  if (keySecret !== undefined) return { kind: "secret", secret: keySecret };
  // SECURITY: only to the vendor itself. Elsewhere a key must be named in the configuration.
  const isVendor = isVendorItself(provider);
  const login = isVendor ? await findLogin(core, subject, provider) : undefined;
  if (login?.isGranted === true) return { kind: "secret", secret: login.secret };
  if (isVendor && (await core.ports.vault.find(provider.name)) !== undefined)
    return { kind: "secret", secret: provider.name };
  if (keyVariable === undefined) return { kind: "none" };
  const sent = Object.hasOwn(variables, keyVariable) ? variables[keyVariable]?.trim() : undefined;
  const value = sent || core.ports.modelKeys.get(keyVariable)?.trim();
  if (value) return { kind: "variable", value };
  if (login !== undefined) {
    const hint = `Agree: agentbox vault grant ${login.secret} --agent ${login.agent}`;
    return { kind: "missing", refusal: noKey(provider, hint), login: login.secret };
  }
  return { kind: "missing", refusal: noKey(provider, howToGiveKey(provider, isVendor, subject)) };
}

function howToGiveKey(
  { name, keyVariable }: ModelProvider,
  isVendor: boolean,
  subject: GrantSubject | undefined,
): string {
  const agent = subject?.spec.agent.name ?? "";
  const hasLogin = Object.hasOwn(agentLogins, agent) && agentLogins[agent]?.provider === name;
  const kept = isVendor
    ? `, or keep one: agentbox vault set ${name}`
    : `, or keep one (agentbox vault set ${name}) and name it: model.providers.${name}.key = "vault:${name}"`;
  const login = isVendor && hasLogin ? `, or sign in: agentbox login ${agent}` : "";
  return `Set ${keyVariable} where the daemon is started${kept}${login}.`;
}

/** Refuses with `model.no_key` when the key of a provider is known to be missing. No value is read or recorded. */
export async function requireModelKey(core: KeyCore, provider: ModelProvider, asking: Asking): Promise<void> {
  const source = await chooseKey(core, provider, asking);
  if (source.kind === "missing") throw source.refusal;
  if (source.kind === "secret" && (await core.ports.vault.find(source.secret)) === undefined)
    throw secretMissing(provider, source.secret);
}

const secretMissing = (provider: ModelProvider, secret: string): AgentBoxError =>
  noKey(provider, `Save it: ${commandFor(secret)}`);

const isVendorItself = ({ name, baseUrl, keyVariable }: ModelProvider): boolean =>
  builtInProviders.some(
    (vendor) => vendor.name === name && vendor.baseUrl === baseUrl && vendor.keyVariable === keyVariable,
  );

interface FoundLogin {
  readonly agent: string;
  readonly secret: string;
  readonly isGranted: boolean;
}

/** The login of the box's agent, where it is one for this provider. */
async function findLogin(
  core: KeyCore,
  box: GrantSubject | undefined,
  provider: ModelProvider,
): Promise<FoundLogin | undefined> {
  if (box === undefined) return undefined;
  const agent = box.spec.agent.name;
  const isFor = Object.hasOwn(agentLogins, agent) && agentLogins[agent]?.provider === provider.name;
  const secret = loginSecret(agent);
  if (!isFor || (await core.ports.vault.find(secret)) === undefined) return undefined;
  return { agent, secret, isGranted: await core.secretGrants.covers(box, loginUse(agent)) };
}

async function fromVault(
  core: Using<"clock" | "connections" | "egressLog" | "vault">,
  box: GateBox,
  provider: ModelProvider,
  secret: string,
): Promise<ProviderKey> {
  try {
    const info = await core.ports.vault.find(secret);
    if (info === undefined) throw secretMissing(provider, secret);
    const key = await readKey(core, provider, info);
    const server = { name: provider.name, baseUrl: key.baseUrl ?? provider.baseUrl };
    return { ...key, sent: () => note(core, box, server, { secret }) };
  } catch (error) {
    note(core, box, provider, { secret, reason: "secret_unavailable" });
    throw unavailable(provider, secret, error);
  }
}

function commandFor(secret: string): string {
  const agent = agentOfLogin(secret);
  return agent === undefined ? `agentbox vault set ${secret}` : `agentbox login ${agent}`;
}

async function readKey(
  core: Using<"connections" | "vault">,
  provider: ModelProvider,
  { name, kind }: SecretInfo,
): Promise<ProviderKey> {
  const { vault, connections } = core.ports;
  if (kind === "text") {
    const { bytes } = await vault.reveal(name);
    return { value: bytes.toString("utf8").trim(), form: "key" };
  }
  if (kind !== "oauth") throw noKey(provider, `"${name}" is of the kind ${kind}; a key is a text.`);
  const { value, extra } = await connections.accessToken(name);
  const login = agentLogins[agentOfLogin(name) ?? ""];
  const headers = Object.fromEntries(
    Object.entries(login?.headers ?? {}).flatMap(([header, fact]) =>
      extra[fact] === undefined ? [] : [[header, extra[fact]]],
    ),
  );
  const isVendor = builtInProviders.some(({ baseUrl }) => baseUrl === provider.baseUrl);
  return { value, form: "login", headers, baseUrl: isVendor ? login?.baseUrl : undefined };
}

/** The receipt: which secret went to whom, or why it did not. */
function note(
  core: Using<"clock" | "egressLog">,
  { name: box, incarnation }: GateBox,
  { name, baseUrl }: Pick<ModelProvider, "name" | "baseUrl">,
  { secret, reason }: { readonly secret: string; readonly reason?: SecretDenial },
): void {
  const url = new URL(baseUrl);
  core.egressLog.add({
    atMs: core.ports.clock.nowMs(),
    box,
    incarnation,
    via: "proxy",
    host: url.hostname,
    port: portOf(url),
    verdict: reason === undefined ? "allow" : "deny",
    reason,
    rule: `model.providers.${name}`,
    bytesOut: 0,
    bytesIn: 0,
    secret,
    isInjected: reason === undefined,
  });
}

const noKey = ({ name }: ModelProvider, hint: string): AgentBoxError =>
  new AgentBoxError("model.no_key", `The host has no key for the model provider "${name}".`, { hint });

function unavailable(provider: ModelProvider, secret: string, error: unknown): AgentBoxError {
  if (isAgentBoxError(error, "model.no_key")) return error;
  const why = isAgentBoxError(error, "vault.locked") ? "the vault is locked" : "it could not be had";
  const hint = isAgentBoxError(error, "vault.locked")
    ? "Unlock it: agentbox vault unlock"
    : error instanceof AgentBoxError && error.hint !== undefined
      ? error.hint
      : `Look at it: agentbox vault show ${secret}`;
  return new AgentBoxError(
    "model.no_key",
    `The key for the model provider "${provider.name}" is the secret "${secret}", and ${why}.`,
    { hint, cause: error },
  );
}
