/**
 * JSON Schema → what a form shows. One reading for every schema there is: the manifest's, and the options of any
 * agent, whoever wrote it.
 */
import { type Path, formatPath } from "../../../src/manifest/path.ts";
import type { SchemaNode } from "../../../src/manifest/json-schema.ts";

export interface Schema extends Omit<SchemaNode, "properties" | "items" | "anyOf" | "additionalProperties"> {
  readonly maxLength?: number;
  readonly examples?: readonly unknown[];
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly anyOf?: Schema[];
  readonly additionalProperties?: boolean | Schema;
}

interface Shown {
  readonly title: string;
  readonly hint?: string | undefined;
  /** The default, in words. */
  readonly fallback?: string | undefined;
}

export interface Member {
  readonly key: string;
  readonly field: FormField;
  readonly isRequired: boolean;
}

export type FormField = Shown &
  (
    | {
        readonly kind: "text";
        readonly isLong: boolean;
        readonly pattern?: RegExp | undefined;
        readonly example?: string | undefined;
        /** Known values; others may be typed. */
        readonly suggestions: readonly string[];
      }
    | {
        readonly kind: "number";
        readonly isInteger: boolean;
        readonly min?: number | undefined;
        readonly max?: number | undefined;
      }
    | { readonly kind: "switch" }
    | { readonly kind: "choice"; readonly choices: readonly string[] }
    | { readonly kind: "list"; readonly item: FormField }
    | { readonly kind: "record"; readonly value: FormField; readonly keyPattern?: RegExp | undefined }
    | { readonly kind: "object"; readonly members: readonly Member[] }
    | { readonly kind: "union"; readonly options: readonly FormField[] }
  );

export type LeafField = Extract<FormField, { kind: "text" | "number" | "switch" | "choice" }>;

export interface FieldContext {
  /** Names that the host knows, by key. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Replaces the schema at a key, such as the options of the agent that was chosen. */
  readonly instead?: Readonly<Record<string, Schema>>;
}

const longFrom = 16_384;

export function fieldOf(given: Schema, path: Path, context: FieldContext = {}): FormField {
  const key = formatPath(path);
  const schema = context.instead?.[key] ?? given;
  const shown: Shown = {
    title: given.title ?? titleOf(path),
    hint: given.description ?? schema.description,
    fallback: fallbackOf(schema.default),
  };
  if (schema.enum !== undefined) return { ...shown, kind: "choice", choices: schema.enum.map(String) };
  if (schema.anyOf !== undefined)
    return { ...shown, kind: "union", options: schema.anyOf.map((option) => fieldOf(option, path, context)) };
  if (schema.type === "boolean") return { ...shown, kind: "switch" };
  if (schema.type === "number" || schema.type === "integer")
    return {
      ...shown,
      kind: "number",
      isInteger: schema.type === "integer",
      min: schema.minimum,
      max: schema.maximum,
    };
  if (schema.type === "array")
    return { ...shown, kind: "list", item: fieldOf(schema.items ?? {}, path, context) };
  if (schema.type === "object" && schema.properties !== undefined)
    return { ...shown, kind: "object", members: membersOf(schema, path, context) };
  if (schema.type === "object") {
    const value = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {};
    return {
      ...shown,
      hint: shown.hint ?? value.description,
      kind: "record",
      value: fieldOf(value, path, context),
      keyPattern: patternOf(schema.propertyNames),
    };
  }
  return {
    ...shown,
    kind: "text",
    isLong: (schema.maxLength ?? 0) >= longFrom && typeof path.at(-1) === "string",
    pattern: patternOf(schema),
    example: schema.examples?.map(String).join(", "),
    suggestions: context.choices?.[key] ?? [],
  };
}

const membersOf = (schema: Schema, path: Path, context: FieldContext): Member[] =>
  Object.entries(schema.properties ?? {}).map(([key, member]) => ({
    key,
    field: fieldOf(member, [...path, key], context),
    isRequired: schema.required?.includes(key) ?? false,
  }));

/** A pattern that this browser cannot read is left to the daemon. */
function patternOf(schema: { readonly pattern?: string } | undefined): RegExp | undefined {
  try {
    return schema?.pattern === undefined ? undefined : new RegExp(schema.pattern, "u");
  } catch {
    return undefined;
  }
}

function titleOf(path: Path): string {
  const key = path.findLast((part) => typeof part === "string") ?? "";
  return key === "" ? "Value" : `${key[0]!.toUpperCase()}${key.slice(1).replaceAll("_", " ")}`;
}

function fallbackOf(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === undefined || typeof value === "object" ? undefined : leafText(value);
}

/** The text in the control of a single value. */
export const leafText = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";

/** The first value of a new row of a list or record. */
export function emptyOf(field: FormField): unknown {
  if (field.kind === "object" || field.kind === "record") return {};
  if (field.kind === "list") return [];
  if (field.kind === "switch") return true;
  if (field.kind === "choice") return field.choices[0] ?? "";
  return field.kind === "union" ? emptyOf(field.options[0]!) : "";
}

/** Which way of writing it a value is in. */
export function optionOf(options: readonly FormField[], value: unknown): number {
  const isOf = ({ kind }: FormField): boolean => {
    if (Array.isArray(value)) return kind === "list";
    if (typeof value === "object" && value !== null) return kind === "object" || kind === "record";
    if (typeof value === "boolean") return kind === "switch";
    if (typeof value === "number") return kind === "number";
    return kind === "text" || kind === "choice";
  };
  return Math.max(options.findIndex(isOf), 0);
}

/** Problems that are found without asking the daemon. */
export function quickProblem(field: FormField, value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (field.kind === "text" && typeof value === "string" && field.pattern?.test(value) === false)
    return field.example === undefined ? "This cannot be written so." : `Write it like ${field.example}.`;
  if (field.kind !== "number") return undefined;
  if (typeof value !== "number" || (field.isInteger && !Number.isInteger(value)))
    return field.isInteger ? "Write a whole number." : "Write a number.";
  if (field.min !== undefined && value < field.min) return `At least ${field.min}.`;
  return field.max !== undefined && value > field.max ? `At most ${field.max}.` : undefined;
}
