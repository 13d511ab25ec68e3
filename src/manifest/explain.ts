import { AgentBoxError } from "../base/errors.ts";
import { omitUndefined } from "../base/omit-undefined.ts";
import { printable } from "../base/printable.ts";
import { suggest } from "../base/suggest.ts";
import { findKey, knownKeysOf, listKeys } from "./key-table.ts";
import { type ManifestLayer, type Origin, defaultLayer, formatOrigin, layerManifest } from "./layers.ts";
import { type Path, formatPath, parsePath } from "./path.ts";

export interface ExplainedKey {
  readonly key: string;
  readonly description: string;
  readonly type: string;
  /** The value in force; absent when no layer sets it and it has no default. */
  readonly value?: unknown;
  /** Where it comes from; absent without a value, and for a whole section, whose keys have origins of their own. */
  readonly origin?: Origin | undefined;
  /** The origin in words, such as `manifest agentbox.toml:4:1`. */
  readonly source: string;
  readonly default?: unknown;
}

/**
 * The value of a key in force, and its source. `layers` lowest first; the defaults are added below them. Throws
 * `config.unknown_key` with the key that was probably meant.
 */
export function explainKey(layers: readonly ManifestLayer[], key: string): ExplainedKey {
  const path = parsePath(key);
  const info = path && findKey(path);
  if (!path || !info) throw unknownKeyError(key, path);
  const effective = layerManifest([defaultLayer, ...layers]);
  const value = path[0] === "version" ? 1 : valueAt(effective.values, path);
  const origin = value === undefined ? undefined : effective.origins.get(formatPath(path.slice(0, 2)));
  return {
    key: formatPath(path),
    description: info.description,
    type: info.type,
    source: origin ? formatOrigin(origin) : value === undefined ? "not set" : "see its keys",
    ...omitUndefined({ value, origin }),
    ...("default" in info ? { default: info.default } : {}),
  };
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

function unknownKeyError(key: string, path: Path | undefined): AgentBoxError {
  const short = key.slice(0, 80);
  const siblings = path
    ? knownKeysOf(path.slice(0, -1)).map((name) => formatPath([...path.slice(0, -1), name]))
    : [];
  const meant = suggest(short, [...siblings, ...listKeys().map((info) => info.key), ...knownKeysOf([])]);
  return new AgentBoxError("config.unknown_key", `There is no key "${printable(short)}" in the manifest.`, {
    hint: meant ? `Did you mean ${meant}?` : `Sections: ${knownKeysOf([]).join(", ")}.`,
    facts: { key: printable(short) },
  });
}
