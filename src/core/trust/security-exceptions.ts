/** Exceptions from the baseline: which hold for a box, and what a repository asks for by them. Pure. */
import { parseBytes } from "../../base/bytes.ts";
import { printable } from "../../base/printable.ts";
import type { SecurityException } from "../../contract/box.ts";
import { describeException } from "../../contract/exception-words.ts";
import { capabilityName } from "../../contract/grantable.ts";
import { type ManifestLayer, layerManifest } from "../../manifest/index.ts";
import { normalizePath } from "../../contract/mount-paths.ts";
import type { SecurityExceptionEntry } from "../../manifest/sections/security-section.ts";

export interface ExceptionRequest extends Omit<SecurityException, "reason"> {
  readonly kind: "security_exception";
  readonly sentence: string;
}

/** Those whose feature is enabled, by name. */
export const resolveExceptions = (layers: readonly ManifestLayer[]): SecurityException[] =>
  active(layers).map(({ exception }) => exception);

/** A person's flag is an order; a manifest's value is a request. */
export const exceptionRequests = (layers: readonly ManifestLayer[]): ExceptionRequest[] =>
  active(layers)
    .filter(({ source }) => source === "manifest")
    .map(({ exception }) => {
      const { reason, ...asked } = exception;
      const sentence = printable(`${describeException(exception)} (${asked.name}, reason: ${reason})`);
      return { kind: "security_exception", ...asked, sentence };
    });

interface Active {
  readonly exception: SecurityException;
  readonly source: ManifestLayer["source"];
}

/** SECURITY: layer by layer, because an exception that a person typed must not make an order of those beside it. */
function active(layers: readonly ManifestLayer[]): Active[] {
  const features = new Set(layerManifest(layers).values.runtime?.features);
  const byName = new Map<string, Active>();
  for (const { source, values } of layers) {
    for (const [name, entry] of Object.entries(values.security?.exceptions ?? {})) {
      byName.set(name, { exception: toException(name, entry), source });
      if (entry.feature !== undefined && !features.has(entry.feature)) byName.delete(name);
    }
  }
  return [...byName.values()].sort((a, b) => (a.exception.name < b.exception.name ? -1 : 1));
}

const toException = (name: string, entry: SecurityExceptionEntry): SecurityException => ({
  name,
  reason: entry.reason,
  devices: [...new Set(entry.devices)],
  tmpfs: Object.fromEntries(
    Object.entries(entry.tmpfs ?? {}).map(([path, size]) => [normalizePath(path), parseBytes(size)!]),
  ),
  capabilities: [...new Set((entry.capabilities ?? []).map(capabilityName))],
  gpus: entry.gpus ?? 0,
});
