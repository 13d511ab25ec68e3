/** Values of a manifest as TOML. Knows no schema, so that a page can show the text without loading one. */
import { omitUndefined } from "../../base/omit-undefined.ts";

const bareKey = /^[A-Za-z0-9_-]+$/;
const keyText = (key: string): string => (bareKey.test(key) ? key : text(key));
const text = (value: string): string =>
  JSON.stringify(value.replaceAll(/\p{Surrogate}/gu, "\ufffd")).replaceAll("\u007f", "\\u007f");

const defined = (entries: object): [string, unknown][] => Object.entries(omitUndefined(entries));

/** A value on one line. */
export function inlineToml(value: unknown): string {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(inlineToml).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const pairs = defined(value).map(([key, item]) => `${keyText(key)} = ${inlineToml(item)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return String(value);
}

/** `services.web.command`: a key with its sections. */
export const tomlKey = (path: readonly string[]): string => path.map(keyText).join(".");

export interface SectionText {
  readonly name: string;
  readonly description: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The sections that say something, in the order given, each below its description. */
export function sectionsToml(values: Values, sections: readonly SectionText[], schema?: string): string {
  const blocks = sections.flatMap(({ name, description }) => {
    const section = Object.hasOwn(values, name) ? values[name] : undefined;
    if (section === undefined || section === null || Object.keys(section).length === 0) return [];
    return [`# ${description}\n${sectionToml(name, section)}`];
  });
  const first = schema === undefined ? "" : `#:schema ${schema}\n\n`;
  return [`${first}version = 1\n`, ...blocks].join("\n");
}

function sectionToml(name: string, section: object): string {
  if (Array.isArray(section)) return section.map((entry: object) => table(`[[${name}]]`, entry)).join("\n");
  if (name === "services" || name === "secrets") return namedTables(name, section);
  if (name === "security" && "exceptions" in section)
    return namedTables("security.exceptions", section.exceptions as object);
  return table(`[${name}]`, section);
}

const namedTables = (section: string, entries: object): string =>
  defined(entries)
    .map(([name, entry]) => table(`[${section}.${keyText(name)}]`, entry as object))
    .join("\n");

function table(header: string, entries: object): string {
  const lines = defined(entries).map(([key, value]) => `${keyText(key)} = ${inlineToml(value)}\n`);
  return `${header}\n${lines.join("")}`;
}
