import { omitUndefined } from "../base/omit-undefined.ts";
import { entryDefaults, manifestDefaults } from "./defaults.ts";
import { normalizePath } from "../contract/mount-paths.ts";
import { formatPath } from "./path.ts";
import type { ManifestValues, MountEntry } from "./schema.ts";
import type { TomlPositions } from "./toml/toml-positions.ts";
import type { UserConfig } from "./user-config.ts";

export type LayerSource = "default" | "host policy" | "user config" | "manifest" | "flag";

export type LayerValues = ManifestValues & Pick<UserConfig, "limits" | "push" | "web">;

/** One source of values; later layers win over earlier ones. */
export interface ManifestLayer {
  readonly source: LayerSource;
  readonly file?: string | undefined;
  readonly values: LayerValues;
  readonly positions?: TomlPositions | undefined;
}

/** Where one value comes from. */
export interface Origin {
  readonly source: LayerSource;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export interface EffectiveMount {
  readonly mount: MountEntry;
  readonly origin: Origin;
}

/** All layers as one, each value with its origin. */
export interface EffectiveManifest {
  readonly values: LayerValues;
  readonly mounts: readonly EffectiveMount[];
  /** Keys are `section.key`, or `mounts[n]`; a key that no layer sets has no entry. */
  readonly origins: ReadonlyMap<string, Origin>;
}

export const defaultLayer: ManifestLayer = { source: "default", values: manifestDefaults };

/** The keys that add up over the layers instead of being replaced: the lists of [network], and entries with a name. */
const adding = new Set([
  "agent.options",
  "model.aliases",
  "model.providers",
  "model.prices",
  "mcp.servers",
  "runtime.features",
  "security.exceptions",
]);
const addsUp = (section: string, key: string): boolean =>
  section === "network" || adding.has(`${section}.${key}`);

/**
 * Later layers win key by key: `section.key` is the unit, so a service or a variable is replaced as a whole. Mounts add
 * up, and a later mount replaces an earlier one with the same target. The lists of [network] are combined in
 * `core/policy`, the limits of [budget] in `core/manifest/resolve-budget.ts`.
 */
export function layerManifest(layers: readonly ManifestLayer[]): EffectiveManifest {
  const values: Record<string, Record<string, unknown>> = {};
  const origins = new Map<string, Origin>();
  const mounts = new Map<string, EffectiveMount>();
  const agent = layers.findLast((layer) => layer.values.agent?.name !== undefined)?.values.agent?.name;
  for (const layer of layers) {
    forgetArguments(layer, values, origins);
    const { mounts: added = [], check: _checks, ...sections } = valuesFor(agent, layer.values);
    for (const [section, entries] of Object.entries(sections)) {
      for (const [key, value] of Object.entries(entries ?? {})) {
        if (value === undefined) continue;
        const before = addsUp(section, key) ? values[section]?.[key] : undefined;
        values[section] = { ...values[section], [key]: addUp(before, value) };
        origins.set(formatPath([section, key]), originOf(layer, [section, key]));
      }
    }
    for (const [index, mount] of added.entries()) {
      const complete = { ...entryDefaults.mounts, ...mount };
      mounts.set(normalizePath(mount.target), {
        mount: complete,
        origin: originOf(layer, ["mounts", index]),
      });
    }
  }
  const all = [...mounts.values()];
  for (const [index, { origin }] of all.entries()) origins.set(formatPath(["mounts", index]), origin);
  const effective = all.length === 0 ? values : { ...values, mounts: all.map((entry) => entry.mount) };
  return { values: effective, mounts: all, origins };
}

/** Lists one after the other, named entries side by side; otherwise the later value. */
function addUp(before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value))
    return [...(before as unknown[]), ...(value as unknown[])];
  return isTable(before) && isTable(value) ? { ...before, ...value } : value;
}

const isTable = (value: unknown): value is object =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** Arguments, options and a version belong to one agent: another agent's name drops those of the layers below. */
function forgetArguments(
  layer: ManifestLayer,
  values: Record<string, Record<string, unknown>>,
  origins: Map<string, Origin>,
): void {
  const name = layer.values.agent?.name;
  if (name === undefined || values["agent"] === undefined || values["agent"]["name"] === name) return;
  const { options: _options, version: _version, ...agent } = values["agent"];
  values["agent"] = { ...agent, args: manifestDefaults.agent.args };
  origins.set("agent.args", { source: "default" });
  origins.delete("agent.options");
  origins.delete("agent.version");
}

/** A model that a layer chose for the agent it names is not meant for another agent. */
function valuesFor(agent: string | undefined, values: LayerValues): LayerValues {
  const own = values.agent?.name;
  if (values.model === undefined || own === undefined || own === agent) return values;
  const { name: _name, provider: _provider, ...model } = values.model;
  return { ...values, model };
}

function originOf(layer: ManifestLayer, path: readonly (string | number)[]): Origin {
  const { source, file, positions } = layer;
  if (!positions) return { source, ...omitUndefined({ file }) };
  return { source, ...omitUndefined({ file }), ...positions.find(path, "key") };
}

/** `manifest agentbox.toml:4:1`, `flag`, `default`. */
export function formatOrigin(origin: Origin): string {
  if (origin.file === undefined) return origin.source;
  const position = origin.line === undefined ? origin.file : `${origin.file}:${origin.line}:${origin.column}`;
  return `${origin.source} ${position}`;
}
