/**
 * The check of the gate and the ssh keys before a secret is used: whether this box may, and for the value. A box may
 * when its own record has exactly this binding and a person has agreed to it.
 */
import { canonicalJson } from "../../base/digest.ts";
import type { Box } from "../../contract/box.ts";
import { type SecretBinding, isHeld } from "../../contract/secret/binding.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { InjectionListener } from "../../ports/injection.ts";
import type { SshKeysListener } from "../../ports/ssh-keys.ts";
import type { Using } from "../using.ts";
import { revealAll, revealSecret } from "./reveal.ts";
import type { AskedUse } from "./secret-grants.ts";
import { askedUse } from "./use.ts";

/** Without a question: for what cannot wait, such as the start of a box that holds the value. */
export const isGranted = async (
  core: Using<"secretGrants">,
  box: Box,
  binding: SecretBinding,
): Promise<boolean> => core.secretGrants.covers(box, askedUse(binding));

/**
 * A secret that a person ordered for a box, on the command line or in their own config, is granted to it when it is made:
 * shown and taken back like every other grant. A value that the box would hold is asked about by itself.
 */
export const orderedUses = (bindings: readonly SecretBinding[]): readonly AskedUse[] =>
  bindings.filter((binding) => binding.isOrdered && !isHeld(binding)).map(askedUse);

export async function grantToBox(
  core: Using<"secretGrants">,
  { name, incarnation }: Pick<Box, "name" | "incarnation">,
  uses: readonly AskedUse[],
): Promise<void> {
  for (const use of uses) await core.secretGrants.grant({ kind: "box", box: name, incarnation }, use);
}

interface Destination {
  readonly host: string;
  readonly port: number;
}

async function authorise(
  core: Using<"approvals" | "secretGrants" | "store">,
  gateBox: GateBox,
  binding: SecretBinding,
  { host, port }: Destination,
  signal: AbortSignal,
): Promise<boolean> {
  const box = await findLive(core, gateBox, binding);
  if (box === undefined) return false;
  if (await isGranted(core, box, binding)) return true;
  const asked = askedUse(binding);
  const secret = { name: asked.secret, use: asked.use, sentence: asked.sentence };
  const isAllowed = await core.approvals.askAsConfigured({ box: gateBox, host, port, secret }, signal);
  // SECURITY: the answer may be older than a removal or a new box of the same name.
  return isAllowed && (await findLive(core, gateBox, binding)) !== undefined;
}

/** SECURITY: what the gate remembers of a box must be what its record says now, or an old binding would go on. */
async function findLive(
  core: Using<"store">,
  { name, incarnation }: GateBox,
  binding: SecretBinding,
): Promise<Box | undefined> {
  const box = await core.ports.store.findBox(name);
  if (box?.incarnation !== incarnation) return undefined;
  const wanted = canonicalJson(binding);
  return box.spec.secrets.some((own) => canonicalJson(own) === wanted) ? box : undefined;
}

export const injectionListener = (
  core: () => Using<"approvals" | "connections" | "secretGrants" | "store" | "vault">,
): InjectionListener => ({
  authorise: (box, binding, { host, port }, signal) =>
    authorise(core(), box, binding, { host: host.isWildcard ? `*.${host.name}` : host.name, port }, signal),
  reveal: (secret) => revealSecret(core(), secret),
  revealAll: (secret) => revealAll(core(), secret),
});

export const sshKeysListener = (
  core: () => Using<"approvals" | "clock" | "egressLog" | "secretGrants" | "store" | "vault">,
): SshKeysListener => ({
  async authorise(box, binding, { host, port, user }, signal) {
    if (!(await authorise(core(), box, binding, { host, port }, signal))) return false;
    if (binding.use.kind !== "ssh" || !binding.use.confirm) return true;
    const asked = askedUse(binding);
    const who = user === undefined ? host : `${user}@${host}`;
    const sentence = `sign in to ${who}:${port} with the key ${asked.secret}, once`;
    const secret = { name: asked.secret, use: asked.use, sentence, isOnce: true };
    return core().approvals.askAsConfigured({ box, host, port, secret }, signal);
  },
  reveal: async (secret) => (await core().ports.vault.reveal(secret)).bytes,
  signed(box, binding, destination, refusal) {
    core().egressLog.add({
      atMs: core().ports.clock.nowMs(),
      box: box.name,
      incarnation: box.incarnation,
      via: "ssh-agent",
      host: destination?.host ?? "",
      port: destination?.port ?? 22,
      method: "SIGN",
      verdict: refusal === undefined ? "allow" : "deny",
      reason: refusal,
      bytesOut: 0,
      bytesIn: 0,
      secret: binding.secret,
      isInjected: refusal === undefined,
    });
  },
});
