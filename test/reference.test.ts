import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCodes } from "../src/base/error-codes.ts";
import { type SchemaNode, manifestJsonSchema } from "../src/manifest/json-schema.ts";
import { listKeys } from "../src/manifest/key-table.ts";
import { parseManifest } from "../src/manifest/parse.ts";
import { errorsReference, generatedFiles, manifestReference, rulesReference } from "../scripts/reference.ts";
import { manifestRules } from "../src/manifest/checks/rules.ts";

const root = join(import.meta.dirname, "..");

function nodesOf(node: SchemaNode): SchemaNode[] {
  const extra = typeof node.additionalProperties === "object" ? [node.additionalProperties] : [];
  const children = [
    ...Object.values(node.properties ?? {}),
    ...(node.items ? [node.items] : []),
    ...(node.anyOf ?? []),
    ...extra,
  ];
  return [node, ...children.flatMap(nodesOf)];
}

describe("generated documents", () => {
  it.each(Object.entries(generatedFiles()))('%s is up to date ("npm run generate")', (path, text) => {
    expect(readFileSync(join(root, path), "utf8")).toBe(text);
  });

  it("name every key, rule and error code", () => {
    expect(
      listKeys().filter(({ key }) => key !== "version" && !manifestReference().includes(`\`${key}\``)),
    ).toEqual([]);
    expect(Object.keys(manifestRules).filter((code) => !rulesReference().includes(`## ${code}: `))).toEqual(
      [],
    );
    expect(Object.keys(errorCodes).filter((code) => !errorsReference().includes(`\`${code}\``))).toEqual([]);
  });

  it("show an example that is valid", () => {
    const example = /```toml\n([^`]*)```/.exec(manifestReference())![1]!;
    expect(parseManifest(example, { file: "example", agents: ["claude"] }).findings).toEqual([]);
  });
});

describe("the JSON Schema", () => {
  const schema = manifestJsonSchema();

  it("closes every table and has a relative id", () => {
    const tables = nodesOf(schema).filter((node) => node.properties);
    expect(tables.length).toBeGreaterThan(8);
    expect(tables.filter((node) => node.additionalProperties !== false)).toEqual([]);
    expect(schema["$id"]).toBe("agentbox.schema.json");
    expect(schema["$schema"]).toContain("2020-12");
  });

  it("has titles, descriptions and defaults", () => {
    expect(schema.properties?.["lifecycle"]?.properties?.["ttl"]).toMatchObject({
      title: "Ttl",
      default: "5d",
    });
    expect(schema.properties?.["mounts"]?.items?.properties?.["access"]).toMatchObject({ default: "read" });
    expect(schema.required).toEqual(["version"]);
  });
});
