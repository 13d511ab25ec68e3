import { type SchemaNode, manifestJsonSchema, userConfigJsonSchema } from "./json-schema.ts";
import type { Path } from "./path.ts";
import { durationPattern, sizePattern } from "./sections/scalars.ts";

/** One key of the manifest or the user config, as documentation and `config explain` show it. */
export interface KeyInfo {
  /** Such as `resources.memory`, `mounts[].source`, `services.<name>.command`. */
  readonly key: string;
  readonly description: string;
  /** Such as `duration`, `text`, `clone | copy | mount | empty`. */
  readonly type: string;
  readonly default?: unknown;
  readonly isRequired: boolean;
}

let schema: SchemaNode | undefined;

/** Manifest and user config together; built once, because turning a schema into data takes a moment. */
function rootSchema(): SchemaNode {
  schema ??= { properties: { ...userConfigJsonSchema().properties, ...manifestJsonSchema().properties } };
  return schema;
}

/** The keys that a table at this path may have. */
export function knownKeysOf(path: Path): readonly string[] {
  return Object.keys(findNode(path)?.properties ?? {});
}

/** The description of one key, concrete (`env.PATH`, `mounts[0].target`); undefined when there is no such key. */
export function findKey(path: Path): KeyInfo | undefined {
  const node = findNode(path);
  if (!node) return undefined;
  const isRequired = findNode(path.slice(0, -1))?.required?.includes(String(path.at(-1))) ?? false;
  return keyInfo(path.join("."), node, isRequired);
}

function findNode(path: Path): SchemaNode | undefined {
  let node: SchemaNode | undefined = rootSchema();
  for (const part of path) {
    node = typeof part === "number" ? node.items : childOf(node, part);
    if (!node) return undefined;
  }
  return node;
}

function childOf(node: SchemaNode, key: string): SchemaNode | undefined {
  const properties = node.properties ?? node.anyOf?.find((option) => option.properties)?.properties;
  if (properties && Object.hasOwn(properties, key)) return properties[key];
  if (typeof node.additionalProperties !== "object") return undefined;
  const pattern = node.propertyNames?.pattern;
  return pattern === undefined || new RegExp(pattern).test(key) ? node.additionalProperties : undefined;
}

/** Every key below a section, with placeholders for what people name themselves. */
export function listKeys(section?: string): KeyInfo[] {
  const roots = Object.entries(rootSchema().properties ?? {});
  return roots
    .filter(([name]) => section === undefined || name === section)
    .flatMap(([name, node]) => walk(name, node, false));
}

function walk(key: string, node: SchemaNode, isRequired: boolean): KeyInfo[] {
  if (node.properties) {
    const required = node.required ?? [];
    return Object.entries(node.properties).flatMap(([name, child]) =>
      walk(`${key}.${name}`, child, required.includes(name)),
    );
  }
  if (node.items?.properties) return walk(`${key}[]`, node.items, false);
  if (typeof node.additionalProperties === "object")
    return walk(`${key}.${placeholder(node)}`, node.additionalProperties, false);
  return [keyInfo(key, node, isRequired)];
}

const placeholder = (node: SchemaNode): string =>
  node.propertyNames?.pattern?.includes("A-Z") ? "<NAME>" : "<name>";

const keyInfo = (key: string, node: SchemaNode, isRequired: boolean): KeyInfo => ({
  key,
  description: node.description ?? "",
  type: typeOf(node),
  isRequired,
  ...("default" in node ? { default: node.default } : {}),
});

function typeOf(node: SchemaNode): string {
  if (node.enum) return node.enum.map(String).join(" | ");
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.anyOf) return node.anyOf.map(typeOf).join(" or ");
  if (node.pattern === durationPattern.source) return "duration";
  if (node.pattern === sizePattern.source) return "size";
  if (node.items) return node.items.properties ? "array of tables" : `array of ${typeOf(node.items)}`;
  if (node.properties) return `{ ${Object.keys(node.properties).join(", ")} }`;
  if (node.type === "string") return "text";
  if (node.type === "integer") return "whole number";
  return node.type === "object" ? "table" : (node.type ?? "any");
}
