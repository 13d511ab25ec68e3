import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { ManifestValues } from "../../manifest/schema.ts";
import type { Arguments } from "../line/arguments.ts";
import { manifestFromFlags } from "./box-request.ts";
import type { FlagSpec } from "../command.ts";

type Table = Readonly<Record<string, unknown>>;

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Tables side by side, anything else replaced. */
export const over = (below: unknown, above: unknown): unknown =>
  isTable(below) && isTable(above)
    ? Object.entries(above).reduce<Table>(
        (merged, [key, value]) => ({
          ...merged,
          [key]: over(Object.hasOwn(merged, key) ? merged[key] : undefined, value),
        }),
        below,
      )
    : above;

/** All that was typed as the part of a manifest it stands for: the flags, and over them what `--set` says. */
export async function typedValues(
  args: Arguments,
  cwd: string,
  flags: Readonly<Record<string, FlagSpec>>,
): Promise<ManifestValues | undefined> {
  const values = manifestFromFlags(args, cwd, flags);
  const lines = args.list("set");
  if (lines.length === 0) return values;
  // Only who uses the flag waits for the parser.
  const { parse } = await import("smol-toml");
  return lines.reduce<unknown>(
    (below, line) => over(below, parseLine(parse, line)),
    values ?? {},
  ) as ManifestValues;
}

function parseLine(parse: (text: string) => unknown, line: string): unknown {
  try {
    return parse(line);
  } catch (error) {
    const [reason = ""] = messageOf(error)
      .replace(/^Invalid TOML document: /, "")
      .split("\n");
    throw new AgentBoxError(
      "input.invalid",
      `--set ${printable(line.slice(0, 80))} is not a line of a manifest: ${reason}.`,
      {
        hint: `Write a key with its sections and a value, such as: --set 'services.web.command = "npm start"'`,
      },
    );
  }
}
