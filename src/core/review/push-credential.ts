/**
 * Which secret of the vault opens a remote. SECURITY: the project's config says where a push goes, and that file may
 * have come from anywhere; so a secret goes only to hosts that a person has named or bound it to.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { portOf } from "../../base/url-address.ts";
import type { Box } from "../../contract/box.ts";
import type { PushSection } from "../../manifest/sections/push-section.ts";
import { matchesHost } from "../../contract/network/host-pattern.ts";
import { ForgeKind } from "../../contract/review/push.ts";
import type { SecretBinding, SecretDestination } from "../../contract/secret/binding.ts";
import type { ForgeCredential } from "../../ports/forge.ts";
import type { Using } from "../using.ts";
import { revealText } from "../secrets/reveal.ts";
import { isGranted } from "../secrets/authorise-use.ts";
import type { PushTarget } from "./push-target.ts";

interface ChosenSecret {
  readonly secret: string;
  readonly username?: string | undefined;
}

export async function openCredential(
  core: Using<"connections" | "secretGrants" | "vault">,
  box: Box,
  target: PushTarget,
  options: { readonly settings: PushSection; readonly secret?: string | undefined },
): Promise<ForgeCredential & { readonly secret: string }> {
  const { secret, username } = await chooseSecret(core, box, target, options);
  const password = await revealText(core, secret);
  if (password === "" || /[^\u0020-\u007e]/.test(password)) {
    throw new AgentBoxError("secret.invalid", `The secret "${secret}" cannot be sent in a header.`, {
      hint: `Save it again, on one line: agentbox vault rotate ${secret}`,
    });
  }
  return {
    secret,
    password,
    username: username ?? (target.forge === "gitlab" ? "oauth2" : "x-access-token"),
  };
}

async function chooseSecret(
  core: Using<"secretGrants" | "vault">,
  box: Box,
  target: PushTarget,
  { settings, secret }: { readonly settings: PushSection; readonly secret?: string | undefined },
): Promise<ChosenSecret> {
  if (secret !== undefined) {
    requireItsForge(secret, target);
    if (!target.isNamed) requireBound(box, secret, target);
    return { secret };
  }
  for (const binding of box.spec.secrets) {
    const found = destinationOf(binding, target);
    if (found === undefined || !(await isGranted(core, box, binding))) continue;
    return { secret: binding.secret, username: found.as.kind === "basic" ? found.as.username : undefined };
  }
  if (target.forge !== undefined) {
    const named = settings.secret ?? target.forge;
    if (settings.secret !== undefined || (await core.ports.vault.find(named))) return { secret: named };
  }
  throw new AgentBoxError("push.failed", `There is no secret for ${target.host}.`, {
    hint: `Keep a token: agentbox vault set ${target.forge ?? "NAME"}${target.forge === undefined ? ", then --secret NAME" : ""}`,
    facts: { host: target.host },
  });
}

/** A token of GitHub under this name is not for other hosts that a repository's config names. */
function requireItsForge(secret: string, target: PushTarget): void {
  const kind = ForgeKind.options.find((one) => one === secret);
  if (kind === undefined || kind === target.forge) return;
  throw new AgentBoxError(
    "push.refused",
    `The secret "${secret}" is for ${kind}, and ${target.host} is not known to be it.`,
    { hint: `Say so in the user config: [push] ${kind} = ["${target.host}"]`, facts: { host: target.host } },
  );
}

/**
 * SECURITY: the person typed which secret, and the project's config says where it goes. A box that works in the
 * project itself can write that file, and would choose the host that gets the secret.
 */
function requireBound({ spec }: Box, secret: string, target: PushTarget): void {
  const isBound = spec.secrets.some(
    (binding) =>
      binding.secret === secret && binding.isOrdered && destinationOf(binding, target) !== undefined,
  );
  if (isBound) return;
  throw new AgentBoxError("push.refused", `No person has agreed that work may be pushed to ${target.host}.`, {
    hint: `Say so in the user config: [push] hosts = ["${target.host}"]`,
    facts: { host: target.host },
  });
}

function destinationOf({ use }: SecretBinding, target: PushTarget): SecretDestination | undefined {
  if (use.kind !== "inject") return undefined;
  const url = new URL(target.url);
  const here = use.destinations.filter(
    ({ scheme, host, port }) =>
      url.protocol === `${scheme}:` && port === portOf(url) && matchesHost(host, url.hostname),
  );
  return here.find(({ as }) => as.kind === "basic") ?? here.find(({ as }) => as.kind === "bearer");
}
