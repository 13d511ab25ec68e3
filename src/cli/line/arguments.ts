import { parseArgs } from "node:util";
import { AgentBoxError } from "../../base/errors.ts";
import { parseDuration } from "../../base/duration.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { suggest } from "../../base/suggest.ts";
import type { CommandSpec, FlagSpec } from "../command.ts";

/** Understood by every command. */
export const commonFlags: Readonly<Record<string, FlagSpec>> = {
  help: { type: "switch", short: "h", summary: "Show this help." },
  json: { type: "switch", summary: "Print JSON, errors included." },
};

/** The words of a command line, checked against the command's flags. */
export class Arguments {
  readonly positionals: readonly string[];
  /** The words after `--`; undefined without a `--`. */
  readonly rest: readonly string[] | undefined;
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(
    positionals: readonly string[],
    rest: readonly string[] | undefined,
    values: ReadonlyMap<string, readonly string[]>,
  ) {
    this.positionals = positionals;
    this.rest = rest;
    this.#values = values;
  }

  isSet(flag: string): boolean {
    return this.#values.has(flag);
  }

  /** The last one wins, as people expect who repeat a flag at the end of a line. */
  text(flag: string): string | undefined {
    return this.#values.get(flag)?.at(-1);
  }

  list(flag: string): readonly string[] {
    return this.#values.get(flag) ?? [];
  }

  integer(flag: string): number | undefined {
    const text = this.text(flag);
    if (text === undefined) return undefined;
    if (!/^\d{1,15}$/.test(text)) throw badValue(flag, text, "a whole number");
    return Number(text);
  }

  durationMs(flag: string): number | undefined {
    const text = this.text(flag);
    if (text === undefined) return undefined;
    const ms = parseDuration(text);
    if (ms === undefined) throw badValue(flag, text, "a duration such as 90s, 1h30m or 5d");
    return ms;
  }

  /** The moment that lies this long ago. */
  momentMs(flag: string): number | undefined {
    const ms = this.durationMs(flag);
    return ms === undefined ? undefined : Date.now() - ms;
  }
}

const badValue = (flag: string, text: string, wanted: string) =>
  new AgentBoxError("input.invalid", `--${flag} is "${text}", which is not ${wanted}.`, {
    hint: `Give --${flag} ${wanted}.`,
  });

export function parseArguments(command: CommandSpec, argv: readonly string[]): Arguments {
  const flags = { ...command.flags, ...commonFlags };
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(flags).map(([name, flag]) => [
        name,
        {
          type: flag.type === "switch" ? "boolean" : "string",
          multiple: true,
          ...omitUndefined({ short: flag.short }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  const values = new Map<string, string[]>();
  let rest: readonly string[] | undefined;
  for (const token of tokens) {
    if (token.kind === "option-terminator") {
      rest = argv.slice(token.index + 1);
      break;
    }
    if (token.kind === "positional") {
      positionals.push(token.value);
      continue;
    }
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    if (flag === undefined) throw unknownFlag(command, token.rawName, Object.keys(flags));
    values.set(token.name, [
      ...(values.get(token.name) ?? []),
      checkedValue(flag, token.name, token.value, token.inlineValue),
    ]);
  }
  // For a command that passes nothing on, `--` only says that what follows are no flags.
  if (!command.takesRest && rest !== undefined) {
    positionals.push(...rest);
    rest = undefined;
  }
  const parsed = new Arguments(positionals, rest, values);
  if (!parsed.isSet("help")) checkPositionals(command, parsed);
  return parsed;
}

function checkedValue(
  flag: FlagSpec,
  name: string,
  value: string | undefined,
  isInline: boolean | undefined,
): string {
  if (flag.type === "switch") {
    if (isInline)
      throw new AgentBoxError("input.invalid", `--${name} takes no value.`, {
        hint: `Write only --${name}.`,
      });
    return "true";
  }
  // `--name --detach` is a forgotten value, not a box named --detach; `--name=--x` says so when it is meant.
  if (value === undefined || (!isInline && value.startsWith("-") && value !== "-")) {
    throw new AgentBoxError("input.invalid", `--${name} needs a value.`, {
      hint: `Write --${name} ${flag.value ?? "VALUE"}.`,
    });
  }
  if (flag.choices && !flag.choices.includes(value))
    throw badValue(name, value, `one of ${flag.choices.join(", ")}`);
  return value;
}

function unknownFlag(command: CommandSpec, rawName: string, known: readonly string[]): AgentBoxError {
  const meant = suggest(rawName.replace(/^-+/, ""), known);
  const forBox = command.takesRest ? " Flags of the command in the box go after --." : "";
  return new AgentBoxError("command.unknown", `"agentbox ${command.name}" has no flag ${rawName}.`, {
    hint: `${meant ? `Did you mean --${meant}?` : `See agentbox ${command.name} --help.`}${forBox}`,
    facts: { command: command.name, flag: rawName, ...(meant ? { suggestion: `--${meant}` } : {}) },
  });
}

function checkPositionals(command: CommandSpec, parsed: Arguments): void {
  const [fewest, most] = command.takes;
  const words = [...parsed.positionals, ...(command.takesRest ? [] : (parsed.rest ?? []))];
  if (words.length < fewest) throw missingWord(command.usage, words.length);
  if (words.length > most) throw surplusWord(command, words[most]!);
}

/** Names the word of the usage line that is missing. */
const questions: Readonly<Record<string, string>> = {
  SOURCE: "Copy what?",
  DESTINATION: "Copy to where?",
  TEXT: "What should the agent be told?",
  TASK: "Which task?",
  KEY: "Which setting?",
  URL: "Which address?",
};

/** "Which box? agentbox exec BOX -- COMMAND": asks for the word of the usage line that comes after those that were given. */
export function missingWord(usage: string, given: number): AgentBoxError {
  const line = usage.split(/, | \| /)[0]!.replaceAll(/ \[[^\]]*\]/g, "");
  const [name = "", ...words] = line.split(" ");
  const wanted = words.filter((word) => /^[A-Z]/.test(word))[given]?.replace(/[^A-Z].*$/, "") ?? "word";
  const question = questions[wanted] ?? `Which ${wanted.toLowerCase()}?`;
  return new AgentBoxError("input.invalid", `${question} agentbox ${line}`, {
    hint: `See agentbox ${name} --help.`,
  });
}

export const surplusWord = (
  { name, usage }: Pick<CommandSpec, "name" | "usage">,
  word: string,
): AgentBoxError =>
  new AgentBoxError("input.invalid", `"agentbox ${name}" does not take "${word}".`, {
    hint: `Usage: agentbox ${usage}`,
  });
