/** The [secrets] of all layers → which secrets a box may use, and how. Pure. */
import { AgentBoxError } from "../../base/errors.ts";
import { type ManifestLayer, type Origin, layerManifest } from "../../manifest/index.ts";
import { formatPath } from "../../manifest/path.ts";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import { compileBinding } from "../../manifest/secrets/compile-binding.ts";
import { conflictOf } from "../../manifest/secrets/conflict.ts";
import { addressedUse, namedAddresses } from "./named-addresses.ts";

export interface SourcedBinding {
  readonly binding: SecretBinding;
  readonly origin: Origin;
}

/**
 * An entry of a later layer takes the whole place of one with the same name, so that no layer can send a secret that
 * another named to a host of its own. Throws `manifest.invalid` for what only shows when the layers are together.
 */
export function sourcedSecrets(layers: readonly ManifestLayer[]): SourcedBinding[] {
  const { values, origins } = layerManifest(layers);
  const taken = new Set(Object.keys(values.env ?? {}));
  const addresses = namedAddresses(layers);
  const resolved: SourcedBinding[] = [];
  for (const [name, entry] of Object.entries(values.secrets ?? {})) {
    const compiled = compileBinding(name, entry);
    const origin = origins.get(formatPath(["secrets", name]));
    if (compiled === undefined || origin === undefined) throw unusable(name);
    const before = resolved.map(({ binding }) => binding);
    const conflict = conflictOf(compiled, before, taken);
    if (conflict !== undefined) {
      const { code, message, hint } = conflict;
      throw new AgentBoxError("manifest.invalid", message, { hint, facts: { rule: code, secret: name } });
    }
    const { use, origins: named } = addressedUse(compiled.use, addresses);
    const isOrdered = [origin, ...named].every(isOrder);
    resolved.push({ binding: { ...compiled, use, isOrdered }, origin });
  }
  return resolved;
}

export const resolveSecrets = (layers: readonly ManifestLayer[]): SecretBinding[] =>
  sourcedSecrets(layers).map(({ binding }) => binding);

/** SECURITY: what a person typed or wrote into their own config; never what came with a repository. */
const isOrder = ({ source }: Pick<Origin, "source">): boolean =>
  source === "user config" || source === "flag";

const unusable = (name: string): AgentBoxError =>
  new AgentBoxError("manifest.invalid", `The secret "${name}" cannot be used as it is written.`, {
    hint: "Check it: agentbox validate",
    facts: { secret: name },
  });
