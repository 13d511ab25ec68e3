import { z } from "zod";
import type { OptionFile } from "./schema.ts";

type OptionFiles = Readonly<Record<string, OptionFile>>;

/** [options] of an agent file → the schema that flags, forms and checks are made from. */
export function buildOptions(options: OptionFiles): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(Object.entries(options).map(([name, option]) => [name, build(option)])),
  );
}

function build(option: OptionFile): z.ZodType {
  const value = makers[option.type](option);
  const filled = option.default === undefined ? value.optional() : value.default(option.default);
  return filled.describe(option.description);
}

const makers: Record<OptionFile["type"], (option: OptionFile) => z.ZodType> = {
  text: () => z.string().min(1).max(4_096),
  number: () => z.number(),
  switch: () => z.boolean(),
  choice: ({ choices = [] }) => z.enum(choices),
};

/** The arguments that carry what was chosen. SECURITY: a value stays inside the argument that names it. */
export function optionArguments(options: OptionFiles, chosen: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const value = chosen[name] ?? option.default;
    if (value === undefined || value === false) return [];
    const text = typeof value === "string" ? value : JSON.stringify(value);
    // A function, because `$&` in a value would mean something in a text.
    return [option.flag].flat().map((flag) => flag.replaceAll("{value}", () => text));
  });
}
