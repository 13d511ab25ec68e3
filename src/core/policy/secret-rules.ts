/** The hosts of a box's secrets as rules of the layer that asked for them, so that a host is written once. Pure. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ManifestLayer } from "../../manifest/index.ts";
import type { NetworkPolicy, NetworkRule } from "../../contract/network/policy.ts";
import type { SecretUse } from "../../contract/secret/binding.ts";
import { type SourcedBinding, sourcedSecrets } from "../secrets/bindings.ts";
import { layerNames } from "./network-layers.ts";

export const secretRules = (layers: readonly ManifestLayer[]): NetworkRule[] =>
  sourcedSecrets(layers).flatMap(rulesOf);

function rulesOf({ binding, origin }: SourcedBinding): NetworkRule[] {
  const { source, file, line } = origin;
  if (source === "default") return [];
  const layer = layerNames[source];
  return destinationsOf(binding.use).map((destination, i) => ({
    id: `${layer}:secrets.${binding.name}[${i}]`,
    origin: {
      layer,
      ...omitUndefined({ file, line }),
    },
    mode: "allow",
    ...destination,
  }));
}

type Reached = Pick<NetworkRule, "host" | "ports" | "methods" | "paths" | "inspect">;

/** SECURITY: read wherever a secret may go in, because an unread request cannot be kept clean of other credentials. */
function destinationsOf(use: SecretUse): Reached[] {
  if (use.kind === "inject") {
    return use.destinations.map(({ host, port, methods, paths }) => ({
      host,
      ports: [port],
      methods,
      paths,
      inspect: true,
    }));
  }
  if (use.kind !== "ssh") return [];
  return use.destinations.map(({ host, port }) => ({
    host: { name: host, isWildcard: false },
    ports: [port],
    methods: [],
    paths: [],
    inspect: false,
  }));
}

/** A person's yes to a host is named after the host, which may be called so, too. */
const isSecretRule = ({ id, origin }: NetworkRule): boolean =>
  origin.layer !== "approval" && /^[a-z]+:secrets\./.test(id);

/** The policy of a box that has no secrets of its own. */
export const withoutSecretRules = (policy: NetworkPolicy): NetworkPolicy => ({
  ...policy,
  rules: policy.rules.filter((rule) => !isSecretRule(rule)),
});

/**
 * Another policy for a box that is there already. Which secrets it uses was settled when it was made, and so were
 * their hosts: a new entry would open a host without its secret.
 */
export function withSecretRulesOf(policy: NetworkPolicy, before: NetworkPolicy | undefined): NetworkPolicy {
  const kept = (before?.rules ?? []).filter(isSecretRule);
  const hosts = new Set(kept.map(({ host }) => host.name));
  const addressOf = (name: string) => before?.exceptions.find((one) => one.name === name)?.address;
  return {
    ...policy,
    rules: [...withoutSecretRules(policy).rules, ...kept],
    // SECURITY: a person agreed to the address that the name stood for; under another one it is not reached at all.
    exceptions: policy.exceptions.filter(
      ({ name, address }) => !hosts.has(name) || addressOf(name) === address,
    ),
  };
}
