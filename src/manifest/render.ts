import { findKey } from "./key-table.ts";
import { type ManifestValues, manifestSections } from "./schema.ts";
import { sectionsToml } from "./toml/toml-text.ts";

export interface RenderOptions {
  /** Where editors find the JSON Schema; a path or address, seen from the manifest; undefined: nowhere. */
  readonly schema?: string | undefined;
}

/** A partial manifest as the text of an `agentbox.toml`, with a comment above each section. */
export function renderManifest(
  values: ManifestValues,
  { schema }: RenderOptions = { schema: "agentbox.schema.json" },
): string {
  const sections = Object.keys(manifestSections).map((name) => ({
    name,
    description: findKey([name])!.description,
  }));
  return sectionsToml(values, sections, schema);
}
