/** A person's actions on secrets: keep, rotate, forget, grant, take back. No event and no answer has a value. */
import { AgentBoxError } from "../../base/errors.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import { type SecretDetails, maxSealedText } from "../../contract/api/schemas/vault.ts";
import { agentOfLogin } from "../../contract/secret/agent-login.ts";
import { isHeld } from "../../contract/secret/binding.ts";
import type { GrantScope, SecretGrant } from "../../contract/secret/grant.ts";
import type { SecretInfo, VaultStatus } from "../../contract/secret/secret.ts";
import type { Using } from "../using.ts";
import { readLayers } from "../manifest/read-layers.ts";
import { resolveSecrets } from "./bindings.ts";
import { applySecrets } from "./apply-secrets.ts";
import type { AskedUse } from "./secret-grants.ts";
import { askedUse, loginUse } from "./use.ts";

type Parts = Using<"gate" | "injection" | "live" | "note" | "sshKeys" | "store" | "vault">;

export async function addSecret(
  core: Using<"note" | "vault">,
  body: RouteBody<"addSecret">,
): Promise<SecretInfo> {
  const { value, ...secret } = body;
  const info = await core.ports.vault.add({
    ...secret,
    ...(value === undefined ? {} : { value: Buffer.from(value, "base64") }),
  });
  await core.note("secret.added", undefined, {
    secret: info.name,
    kind: info.kind,
    source: info.source.kind,
  });
  return info;
}

export async function rotateSecret(core: Parts, body: RouteBody<"rotateSecret">): Promise<SecretInfo> {
  const { name, value, graceMs } = body;
  const info = await core.ports.vault.rotate(name, Buffer.from(value, "base64"), graceMs);
  await core.note("secret.rotated", undefined, {
    secret: name,
    version: info.versions.at(-1)?.version,
    graceMs,
  });
  await applySecrets(core, name);
  return info;
}

/** Its grants go first: a secret of the same name that comes later must be asked about anew. */
export async function removeSecret(
  core: Using<"gate" | "injection" | "live" | "note" | "secretGrants" | "sshKeys" | "store" | "vault">,
  name: string,
): Promise<void> {
  await getSecret(core, name);
  const grants = await core.secretGrants.list(name);
  if (grants.length > 0) await core.secretGrants.revoke(name);
  await core.ports.vault.remove(name);
  await core.note("secret.removed", undefined, { secret: name });
  await applySecrets(core, name);
}

export async function listSecrets(core: Using<"secretGrants" | "vault">): Promise<SecretDetails[]> {
  const grants = await core.secretGrants.list();
  const secrets = await core.ports.vault.list();
  return secrets.map((secret) => ({
    secret,
    grants: grants.filter((grant) => grant.secret === secret.name),
  }));
}

export async function getSecret(core: Using<"secretGrants" | "vault">, name: string): Promise<SecretDetails> {
  const secret = await core.ports.vault.find(name);
  if (secret === undefined) {
    throw new AgentBoxError("secret.not_found", `There is no secret named "${name}".`, {
      hint: "List them: agentbox vault ls",
    });
  }
  return { secret, grants: [...(await core.secretGrants.list(name))] };
}

/** Grants what the box, or the project's manifest, asks for now; nothing wider. */
export async function grantSecret(
  core: Using<"agents" | "clock" | "getBox" | "host" | "presets" | "runtimes" | "secretGrants" | "vault">,
  body: RouteBody<"grantSecret">,
): Promise<SecretGrant[]> {
  await getSecret(core, body.name);
  const scope = await scopeOf(core, body);
  const asked = await askedBy(core, body);
  if (asked.length === 0) {
    throw new AgentBoxError("grant.not_found", `Nothing here asks for the secret "${body.name}".`, {
      hint: `Ask for it in agentbox.toml: [secrets.${body.name}] how = "bearer", hosts = ["HOST"]`,
    });
  }
  const grantedAtMs = core.ports.clock.nowMs();
  if (body.isPreview === true) return asked.map((one) => ({ ...one, scope, grantedAtMs }));
  const grants: SecretGrant[] = [];
  for (const one of asked) grants.push(await core.secretGrants.grant(scope, one, body.ttlMs));
  return grants;
}

async function askedBy(
  core: Using<"agents" | "getBox" | "host" | "presets" | "runtimes">,
  body: RouteBody<"grantSecret">,
): Promise<AskedUse[]> {
  const { name, box, projectDir, manifest } = body;
  const agent = agentOfLogin(name);
  if (agent !== undefined) return [loginUse(agent)];
  if (box !== undefined) {
    const { spec } = await core.getBox(box);
    return spec.secrets.filter(({ secret }) => secret === name).map(askedUse);
  }
  const { inputs } = await readLayers(core, { projectDir, manifest, flags: {} });
  return resolveSecrets(inputs.layers)
    .filter(({ secret }) => secret === name)
    .map(askedUse);
}

async function scopeOf(
  core: Using<"agents" | "getBox" | "host">,
  { scope, box, projectDir, agent }: Pick<RouteBody<"grantSecret">, "scope" | "box" | "projectDir" | "agent">,
): Promise<GrantScope> {
  if (scope === "agent") {
    if (agent !== undefined && !Object.hasOwn(core.ports.agents, agent)) {
      throw new AgentBoxError("agent.unknown", `There is no agent "${agent}".`, {
        hint: "List them: agentbox agents",
      });
    }
    if (agent !== undefined) return { kind: "agent", agent };
  } else if (scope === "project") {
    const own = box === undefined ? projectDir : (await core.getBox(box)).projectDir;
    if (own !== undefined)
      return { kind: "project", projectDir: (await core.ports.host.realPath(own)) ?? own };
  } else if (box !== undefined) {
    const { name, incarnation } = await core.getBox(box);
    return { kind: "box", box: name, incarnation };
  }
  throw new AgentBoxError("input.invalid", `Say which ${scope} the grant is for.`, {
    hint: "Use one of: --box BOX, --project DIR, --agent AGENT",
  });
}

/** From the next request on: what is open with the secret in it is closed. */
export async function revokeSecret(
  core: Using<
    | "agents"
    | "gate"
    | "getBox"
    | "host"
    | "injection"
    | "live"
    | "secretGrants"
    | "sshKeys"
    | "store"
    | "vault"
  >,
  body: RouteBody<"revokeSecret">,
): Promise<{ revoked: number; holders: string[] }> {
  const { name, box, projectDir, agent } = body;
  await getSecret(core, name);
  const kind = box !== undefined ? "box" : projectDir !== undefined ? "project" : "agent";
  const isAll = box === undefined && projectDir === undefined && agent === undefined;
  const scope = isAll ? undefined : await scopeOf(core, { scope: kind, box, projectDir, agent });
  const revoked = await core.secretGrants.revoke(name, scope);
  await applySecrets(core, name);
  return { revoked, holders: await holdersOf(core, name) };
}

/** Boxes that have the value itself, and go on having it. */
async function holdersOf(core: Using<"live" | "store">, secret: string): Promise<string[]> {
  const boxes = await core.ports.store.listBoxes();
  return boxes
    .filter(({ name, incarnation }) => core.live.get(name)?.incarnation === incarnation)
    .filter(({ spec }) => spec.secrets.some((binding) => binding.secret === secret && isHeld(binding)))
    .map(({ name }) => name);
}

export async function unlockVault(core: Using<"note" | "vault">, passphrase: string): Promise<VaultStatus> {
  await core.ports.vault.unlock(passphrase);
  await core.note("vault.unlocked", undefined);
  return core.ports.vault.status();
}

export async function lockVault(core: Parts): Promise<VaultStatus> {
  await core.ports.vault.lock();
  await core.note("vault.locked", undefined);
  for (const { name } of await core.ports.vault.list()) await applySecrets(core, name);
  return core.ports.vault.status();
}

export async function rekeyVault(
  core: Using<"note" | "vault">,
  body: RouteBody<"rekeyVault">,
): Promise<VaultStatus> {
  await core.ports.vault.rekey(body);
  await core.note("vault.rekeyed", undefined, { master: body.to });
  return core.ports.vault.status();
}

export async function exportVault(core: Using<"note" | "vault">, passphrase: string): Promise<string> {
  const sealed = (await core.ports.vault.export(passphrase)).toString("base64");
  if (sealed.length > maxSealedText) {
    throw new AgentBoxError("input.too_large", "The vault is larger than what one file can carry.", {
      hint: "Copy the directory vault of AGENTBOX_HOME in its place; it is encrypted as well.",
    });
  }
  await core.note("vault.exported", undefined, { secrets: (await core.ports.vault.list()).length });
  return sealed;
}

export async function importVault(
  core: Using<"note" | "vault">,
  { sealed, passphrase }: RouteBody<"importVault">,
): Promise<{ added: string[]; skipped: string[] }> {
  const answer = await core.ports.vault.import(Buffer.from(sealed, "base64"), passphrase);
  await core.note("vault.imported", undefined, { added: answer.added, skipped: answer.skipped });
  return answer;
}
