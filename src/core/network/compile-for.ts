import type { NetworkPolicy } from "../../contract/network/policy.ts";
import type { ManifestInputs } from "../trust/mount-requests.ts";
import { compilePolicy } from "../policy/compile-policy.ts";
import { networkLayers } from "../policy/network-layers.ts";
import { secretRules } from "../policy/secret-rules.ts";

/** The network policy that the layers of a box ask for. */
export const compileFor = ({ layers, presets = new Map() }: ManifestInputs): NetworkPolicy =>
  compilePolicy({ layers: networkLayers(layers), presets, secrets: secretRules(layers) });
