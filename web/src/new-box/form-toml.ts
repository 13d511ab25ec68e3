import { sectionsToml } from "../../../src/manifest/toml/toml-text.ts";
import type { Values } from "./draft.ts";
import type { Schema } from "./schema-fields.ts";

/** The form as an `agentbox.toml`; the order and the comments come from the schema. */
export function formToml(values: Values, schema: Schema): string {
  const sections = Object.entries(schema.properties ?? {}).map(([name, { description = name }]) => ({
    name,
    description,
  }));
  return sectionsToml(values, sections, "agentbox.schema.json");
}
