/**
 * The key for one request to a model: from the vault where it has one, otherwise from a variable of the host. Found
 * anew for each request, so a secret that was changed or a grant that was taken back counts at once. Where a secret
 * should go in and cannot, the request is refused; nothing else is sent in its place.
 */
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { portOf } from "../../base/url-place.ts";
import { type ModelProvider, builtInProviders } from "../../contract/model/api.ts";
import type { SecretDenial } from "../../contract/network/policy.ts";
import { agentLogins, agentOfLogin, loginSecret } from "../../contract/secret/agent-login.ts";
import type { SecretInfo } from "../../contract/secret/secret.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { ProviderKey } from "../../ports/model-gateway.ts";
import type { Core } from "../context.ts";
import { loginUse } from "../secrets/use.ts";

export async function findModelKey(
  core: Core,
  box: GateBox,
  provider: ModelProvider,
): Promise<ProviderKey | undefined> {
  const { keySecret, keyVariable } = provider;
  if (keySecret !== undefined) return fromVault(core, box, provider, keySecret);
  // SECURITY: only to the vendor itself. Elsewhere a key goes by its name, which somebody has written down.
  const isVendor = isVendorItself(provider);
  const login = isVendor ? await findLogin(core, box, provider) : undefined;
  if (login?.isGranted === true) return fromVault(core, box, provider, login.secret);
  if (isVendor && (await core.ports.vault.find(provider.name)) !== undefined)
    return fromVault(core, box, provider, provider.name);
  if (keyVariable === undefined) return undefined;
  const value = core.ports.modelKeys.get(keyVariable)?.trim();
  if (value !== undefined && value !== "") return { value, form: "key" };
  if (login !== undefined) {
    note(core, box, provider, { secret: login.secret, reason: "secret_not_granted" });
    throw noKey(provider, `Agree: agentbox vault grant ${login.secret} --agent ${login.agent}`);
  }
  const kept = isVendor ? `, or keep one: agentbox vault set ${provider.name}` : "";
  throw noKey(provider, `Set ${keyVariable} where the daemon is started${kept}.`);
}

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
  core: Core,
  gateBox: GateBox,
  provider: ModelProvider,
): Promise<FoundLogin | undefined> {
  const box = await core.ports.store.findBox(gateBox.name);
  if (box?.incarnation !== gateBox.incarnation) return undefined;
  const agent = box.spec.agent.name;
  const isFor = Object.hasOwn(agentLogins, agent) && agentLogins[agent]?.provider === provider.name;
  const secret = loginSecret(agent);
  if (!isFor || (await core.ports.vault.find(secret)) === undefined) return undefined;
  return { agent, secret, isGranted: await core.secretGrants.covers(box, loginUse(agent)) };
}

async function fromVault(
  core: Core,
  box: GateBox,
  provider: ModelProvider,
  secret: string,
): Promise<ProviderKey> {
  try {
    const info = await core.ports.vault.find(secret);
    if (info === undefined) throw noKey(provider, `Keep it: ${commandFor(secret)}`);
    const key = await readKey(core, provider, info);
    const place = { name: provider.name, baseUrl: key.baseUrl ?? provider.baseUrl };
    return { ...key, sent: () => note(core, box, place, { secret }) };
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
  core: Core,
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
  core: Core,
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
