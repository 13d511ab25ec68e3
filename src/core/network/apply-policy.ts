import type { Box } from "../../contract/box.ts";
import { modelHost, modelPort } from "../../contract/model/api.ts";
import { type NetworkPolicy, type NetworkRule, noNetwork } from "../../contract/network/policy.ts";
import type { Using } from "../using.ts";

/** The policy in force for a box: its own, and the grants of a person for its project. */
export async function effectivePolicy(core: Using<"store">, box: Box): Promise<NetworkPolicy> {
  return withGrants(box, await grantsOf(core, box));
}

const grantsOf = async (
  core: Using<"store">,
  { projectDir }: Pick<Box, "projectDir">,
): Promise<readonly NetworkRule[]> =>
  projectDir === undefined ? [] : core.ports.store.listGrants(projectDir);

function withGrants({ network = noNetwork, spec }: Box, grants: readonly NetworkRule[]): NetworkPolicy {
  const builtIn = spec.model === undefined ? [] : [modelRule];
  return { ...network, rules: [...network.rules, ...grants, ...builtIn] };
}

/** The model gateway is reached by every box that has a model; what it may ask there is decided there. */
const modelRule: NetworkRule = {
  id: "built-in:model",
  origin: { layer: "built-in" },
  mode: "allow",
  host: { name: modelHost, isWildcard: false },
  ports: [modelPort],
  methods: [],
  paths: [],
  inspect: true,
};

/** Puts it in force at the gate, if the box is live here, and lets boxd stand for its ports. */
export async function applyPolicy(
  core: Using<"background" | "gate" | "live" | "store">,
  { name, incarnation, projectDir }: Box,
): Promise<void> {
  const grants = await grantsOf(core, { projectDir });
  // SECURITY: read last. An answer for the project holds no lock; an older record of the box would bring back a rule
  // that was just removed.
  const box = await core.ports.store.findBox(name);
  if (box?.incarnation !== incarnation || core.live.get(name)?.incarnation !== incarnation) return;
  core.ports.gate.setPolicy(gateBox(box), withGrants(box, grants));
  // The gate decides; where boxd listens only decides how soon a program hears of it.
  core.background("announcing ports", announcePorts(core, box));
}

/** Tells boxd where to stand for names. A frozen box cannot hear it, and is told when it goes on. */
export async function announcePorts(core: Using<"live" | "store">, box: Box): Promise<void> {
  const link = core.live.get(box.name)?.link;
  if (box.state.phase !== "running" || !link?.isConnected) return;
  await link.setPorts(portsOf(await effectivePolicy(core, box)));
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
