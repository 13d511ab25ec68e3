/** The [network] sections of all layers, as the policy sees them: whose they are, and where each entry stands. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ManifestLayer } from "../../manifest/index.ts";
import type { NetworkSection } from "../../manifest/sections/network-section.ts";
import type { PresetHosts } from "../../contract/network/preset.ts";
import type { RuleOrigin } from "../../contract/network/policy.ts";
import type { PresetSource } from "../../ports/presets.ts";

export interface NetworkLayer {
  readonly layer: "host" | "user" | "project" | "flag";
  readonly network: NetworkSection;
  /** Where an entry was written; the path starts below `network`. */
  readonly originOf: (path: readonly (string | number)[]) => RuleOrigin;
}

export const layerNames = {
  "host policy": "host",
  "user config": "user",
  manifest: "project",
  flag: "flag",
} as const satisfies Partial<Record<ManifestLayer["source"], NetworkLayer["layer"]>>;

/** Those that say something about the network, in the order they came. */
export function networkLayers(layers: readonly ManifestLayer[]): NetworkLayer[] {
  return layers.flatMap(({ source, file, values, positions }): NetworkLayer[] => {
    const { network } = values;
    if (network === undefined || source === "default") return [];
    const layer = layerNames[source];
    const originOf: NetworkLayer["originOf"] = (path) => ({
      layer,
      ...omitUndefined({ file }),
      ...(positions === undefined ? {} : { line: positions.find(["network", ...path], "value").line }),
    });
    return [{ layer, network, originOf }];
  });
}

/** The rules of all presets that the layers name, each read once. Throws `policy.invalid`. */
export async function readPresets(
  source: PresetSource,
  layers: readonly NetworkLayer[],
): Promise<ReadonlyMap<string, PresetHosts>> {
  const names = new Set(layers.flatMap(({ network }) => network.presets ?? []));
  return new Map(await Promise.all([...names].map(async (name) => [name, await source.read(name)] as const)));
}
