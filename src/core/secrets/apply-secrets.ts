import type { Box } from "../../contract/box.ts";
import type { Using } from "../using.ts";
import { gateBox } from "../network/apply-policy.ts";

/** Puts the secrets of a box in force at the gate and at its ssh agent. */
export function setSecrets(core: Using<"injection" | "sshKeys">, box: Box): void {
  const { secrets } = box.spec;
  core.ports.injection.setBox(gateBox(box), secrets);
  core.ports.sshKeys.setBox(
    gateBox(box),
    secrets.filter(({ use }) => use.kind === "ssh"),
  );
}

/**
 * A secret was changed or taken back: connections opened with it are closed, and keys are loaded anew. SECURITY: a
 * WebSocket that was let in once would otherwise go on for days on a credential that is no longer granted.
 */
export async function applySecrets(
  core: Using<"gate" | "injection" | "live" | "sshKeys" | "store">,
  secret: string,
): Promise<void> {
  for (const box of await core.ports.store.listBoxes()) {
    if (core.live.get(box.name)?.incarnation !== box.incarnation) continue;
    if (!box.spec.secrets.some((binding) => binding.secret === secret)) continue;
    // First, because the gate also closes what it would have to read from now on.
    setSecrets(core, box);
    core.ports.gate.closeInjected(box.name, secret);
  }
}
