import { findKey } from "./key-table.ts";
import { type ManifestValues, manifestSections } from "./schema.ts";

export interface RenderOptions {
  /** Where editors find the JSON Schema; a path or address, seen from the manifest. */
  readonly schema?: string;
}

const bareKey = /^[A-Za-z0-9_-]+$/;
const keyText = (key: string): string => (bareKey.test(key) ? key : text(key));
const text = (value: string): string =>
  JSON.stringify(value.replaceAll(/\p{Surrogate}/gu, "\ufffd")).replaceAll("\u007f", "\\u007f");

/** A partial manifest as the text of an `agentbox.toml`, with a comment above each section. */
export function renderManifest(
  values: ManifestValues,
  { schema = "agentbox.schema.json" }: RenderOptions = {},
): string {
  const blocks = [`#:schema ${schema}\n\nversion = 1\n`];
  for (const name of Object.keys(manifestSections) as (keyof ManifestValues)[]) {
    const section = values[name];
    if (section === undefined || Object.keys(section).length === 0) continue;
    const comment = `# ${findKey([name])!.description}\n`;
    if (name === "mounts")
      blocks.push(comment + (values.mounts ?? []).map((m) => table("[[mounts]]", m)).join("\n"));
    else if (name === "services" || name === "secrets")
      blocks.push(comment + namedTables(name, values[name] ?? {}));
    else if (name === "security")
      blocks.push(comment + namedTables("security.exceptions", values.security?.exceptions ?? {}));
    else blocks.push(comment + table(`[${name}]`, section));
  }
  return blocks.join("\n");
}

const namedTables = (section: string, entries: Readonly<Record<string, object>>): string =>
  Object.entries(entries)
    .map(([name, entry]) => table(`[${section}.${keyText(name)}]`, entry))
    .join("\n");

function table(header: string, entries: object): string {
  const lines = defined(entries).map(([key, value]) => `${keyText(key)} = ${inline(value)}\n`);
  return `${header}\n${lines.join("")}`;
}

const defined = (entries: object): [string, unknown][] =>
  Object.entries(entries).filter(([, value]) => value !== undefined);

function inline(value: unknown): string {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const pairs = defined(value).map(([key, item]) => `${keyText(key)} = ${inline(item)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return String(value);
}
