/** The manifest: `agentbox.toml` and the user config, from text to layers. See parse.ts for where to start. */
export type { CheckContext } from "./checks/check-context.ts";
export { type ExplainedKey, explainKey } from "./explain.ts";
export { type Finding, hasErrors } from "./finding.ts";
export { manifestJsonSchema } from "./json-schema.ts";
export {
  type EffectiveManifest,
  type LayerValues,
  type ManifestLayer,
  type Origin,
  defaultLayer,
  layerManifest,
} from "./layers.ts";
export { parseFlags, parseHostPolicy, parseManifest, parseUserConfig } from "./parse.ts";
export { maxFileBytes } from "./toml/read-toml.ts";
export { renderManifest } from "./render.ts";
