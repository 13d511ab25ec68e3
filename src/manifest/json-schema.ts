import { z } from "zod";
import { entryDefaults, manifestDefaults } from "./defaults.ts";
import { Manifest } from "./schema.ts";
import { UserConfig } from "./user-config.ts";

/** The part of JSON Schema that our schemas come out as. */
export interface SchemaNode {
  title?: string;
  description?: string;
  default?: unknown;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, SchemaNode>;
  required?: readonly string[];
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  additionalProperties?: boolean | SchemaNode;
  propertyNames?: SchemaNode;
}

const toNode = (schema: z.ZodType): SchemaNode =>
  z.toJSONSchema(schema, { target: "draft-2020-12", io: "input" }) as unknown as SchemaNode;

/** JSON Schema (draft 2020-12) of `agentbox.toml`, for editors. The id is relative: it is valid wherever the file lies. */
export function manifestJsonSchema(): SchemaNode & Record<string, unknown> {
  const { $schema, ...schema } = toNode(Manifest) as SchemaNode & { $schema?: unknown };
  decorate(schema, manifestDefaults);
  return { $schema, $id: "agentbox.schema.json", ...schema, title: "agentbox.toml" };
}

export function userConfigJsonSchema(): SchemaNode {
  const schema = toNode(UserConfig);
  decorate(schema, manifestDefaults);
  return schema;
}

/** Adds a title from each key, and the defaults, which the zod schemas leave out because layers apply them. */
function decorate(root: SchemaNode, defaults: Record<string, unknown>): void {
  for (const [name, section] of Object.entries(root.properties ?? {})) {
    section.title = titleOf(name);
    titleAll(section);
    applyDefaults(section, defaults[name]);
  }
  applyDefaults(root.properties?.["mounts"]?.items, entryDefaults.mounts);
  applyDefaults(entryOf(root.properties?.["services"]), entryDefaults.services);
  applyDefaults(entryOf(root.properties?.["mcp"]?.properties?.["servers"]), entryDefaults.mcpServers);
  applyDefaults(root.properties?.["network"]?.properties?.["rules"]?.items, entryDefaults.networkRules);
}

const entryOf = (node: SchemaNode | undefined): SchemaNode | undefined =>
  typeof node?.additionalProperties === "object" ? node.additionalProperties : undefined;

function applyDefaults(node: SchemaNode | undefined, defaults: unknown): void {
  if (node === undefined || defaults === null || typeof defaults !== "object") return;
  for (const [key, value] of Object.entries(defaults)) {
    const property = node.properties?.[key];
    if (property) property.default = value;
  }
}

function titleAll(node: SchemaNode): void {
  for (const [key, property] of Object.entries(node.properties ?? {})) {
    property.title = titleOf(key);
    titleAll(property);
  }
  for (const child of [node.items, entryOf(node), ...(node.anyOf ?? [])]) if (child) titleAll(child);
}

const titleOf = (key: string): string => `${key[0]!.toUpperCase()}${key.slice(1).replaceAll("_", " ")}`;
