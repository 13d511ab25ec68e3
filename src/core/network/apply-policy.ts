import type { Box } from "../../contract/box.ts";
import { type NetworkPolicy, noNetwork } from "../../contract/network/policy.ts";
import type { Core } from "../context.ts";

/** What is in force for a box: its own policy and what a person has granted its project. */
export async function effectivePolicy(core: Core, box: Box): Promise<NetworkPolicy> {
  const policy = box.network ?? noNetwork;
  const grants = box.projectDir === undefined ? [] : await core.ports.store.listGrants(box.projectDir);
  return { ...policy, rules: [...policy.rules, ...grants] };
}

/** Puts it in force at the gate, if the box is live here. */
export async function applyPolicy(core: Core, box: Box): Promise<void> {
  if (core.live.get(box.name)?.incarnation !== box.incarnation) return;
  core.ports.gate.setPolicy(gateBox(box), await effectivePolicy(core, box));
}

export const gateBox = ({ name, incarnation, projectDir }: Box) => ({ name, incarnation, projectDir });

const webPorts = [80, 443];
const maxPorts = 64;

/** Ports on which boxd stands for the names of the policy. The web's are always there, so that a denial can say why. */
export function portsOf(policy: NetworkPolicy): number[] {
  const rules = policy.rules.flatMap(({ ports }) => ports);
  const exceptions = policy.exceptions.map(({ port }) => port);
  return [...new Set([...webPorts, ...rules, ...exceptions])].sort((a, b) => a - b).slice(0, maxPorts);
}
