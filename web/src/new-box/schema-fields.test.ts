import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type FormField, type Schema, emptyOf, fieldOf, optionOf, quickProblem } from "./schema-fields.ts";

const file = new URL("../../../schema/agentbox.schema.json", import.meta.url);
const manifest = JSON.parse(readFileSync(file, "utf8")) as Schema;
const memberOf = (field: FormField, ...keys: string[]): FormField =>
  keys.reduce((at, key) => {
    const found = at.kind === "object" ? at.members.find((member) => member.key === key) : undefined;
    if (!found) throw new TypeError(`There is no field ${key}.`);
    return found.field;
  }, field);

describe("the manifest's schema", () => {
  const root = fieldOf(manifest, [], { choices: { "runtime.name": ["bubblewrap", "docker"] } });
  const kindsOf = (field: FormField): string[] => {
    if (field.kind === "object") return field.members.flatMap(({ field: member }) => kindsOf(member));
    if (field.kind === "list") return ["list", ...kindsOf(field.item)];
    if (field.kind === "record") return ["record", ...kindsOf(field.value)];
    return field.kind === "union" ? ["union", ...field.options.flatMap(kindsOf)] : [field.kind];
  };

  it("becomes fields of every kind, each with a hint where it is a key", () => {
    expect([...new Set(kindsOf(root))].sort()).toEqual([
      "choice",
      "list",
      "number",
      "record",
      "switch",
      "text",
      "union",
    ]);
    const sections = root.kind === "object" ? root.members : [];
    for (const { key, field } of sections)
      for (const member of field.kind === "object" ? field.members : [])
        if (member.field.kind !== "object") expect(member.field.hint, `${key}.${member.key}`).toBeTruthy();
  });

  it("knows defaults, patterns, limits and the names of this host", () => {
    expect(memberOf(root, "agent", "autonomy")).toMatchObject({
      kind: "choice",
      choices: ["ask", "edit", "full"],
      fallback: "full",
    });
    expect(memberOf(root, "runtime", "name")).toMatchObject({ suggestions: ["bubblewrap", "docker"] });
    expect(memberOf(root, "agent", "instructions")).toMatchObject({ kind: "text", isLong: true });
    expect(memberOf(root, "services")).toMatchObject({ kind: "record", value: { kind: "object" } });
    const ttl = memberOf(root, "lifecycle", "ttl");
    expect(quickProblem(ttl, "1h30m")).toBeUndefined();
    expect(quickProblem(ttl, "soon")).toContain("1h30m");
    const memory = memberOf(root, "resources", "memory");
    expect(quickProblem(memory, "2GiB")).toBeUndefined();
    expect(quickProblem(memory, "2 gigs")).toContain("2GiB");
    const pids = memberOf(root, "resources", "pids");
    expect(quickProblem(pids, "many")).toBe("Write a whole number.");
    expect(quickProblem(pids, 1.5)).toBe("Write a whole number.");
    expect(quickProblem(pids, 2)).toBe("At least 8.");
    expect(quickProblem(pids, 100)).toBeUndefined();
  });

  it("tells which way of writing a value is in use", () => {
    const command = memberOf(root, "check");
    const item = command.kind === "list" ? command.item : command;
    const way = memberOf(item, "command");
    if (way.kind !== "union") throw new TypeError("A command is written in two ways.");
    expect(way.options.map(({ kind }) => kind)).toEqual(["text", "list"]);
    expect(optionOf(way.options, "npm test")).toBe(0);
    expect(optionOf(way.options, ["npm", "test"])).toBe(1);
    expect(emptyOf(way)).toBe("");
  });
});

describe("options of an agent that nobody here knows", () => {
  const options: Schema = {
    type: "object",
    properties: {
      tone: { type: "string", enum: ["plain", "warm"], description: "How it sounds." },
      loud: { type: "boolean", description: "In capital letters." },
      turns: { type: "integer", minimum: 1, default: 20, description: "Most turns." },
    },
  };

  it("take the place of the manifest's own words for them", () => {
    const root = fieldOf(manifest, [], { instead: { "agent.options": options } });
    const field = memberOf(root, "agent", "options");
    expect(
      field.kind === "object" ? field.members.map(({ key, field: { kind } }) => [key, kind]) : [],
    ).toEqual([
      ["tone", "choice"],
      ["loud", "switch"],
      ["turns", "number"],
    ]);
    expect(memberOf(field, "tone").hint).toBe("How it sounds.");
    expect(memberOf(field, "turns").fallback).toBe("20");
  });
});

it("leaves a pattern that cannot be read to the daemon", () => {
  const field = fieldOf({ type: "string", pattern: "(" }, ["x"]);
  expect(quickProblem(field, "anything")).toBeUndefined();
});
