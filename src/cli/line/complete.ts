/** The words that may come next on a command line: from the command table, and from the daemon where one runs. */
import type { FlagSpec, CommandSpec, CompletionKind } from "../command.ts";
import { commonFlags } from "./arguments.ts";

/** One word that fits, and what it is. */
export interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** Only the shell knows files. */
export type Candidates = readonly Candidate[] | "files";

/** Names of the things that exist now. A request that fails gives no names. */
export type ListNames = (kind: CompletionKind, box: string | undefined) => Promise<readonly string[]>;

export interface CompletionSources {
  readonly commands: readonly CommandSpec[];
  readonly listNames: ListNames;
  /** The command with the options of the agent that is named on the line. */
  readonly withAgentFlags: (command: CommandSpec, argv: readonly string[]) => Promise<CommandSpec>;
}

/** The kind of a flag's value: by the flag's name, or by the word that stands for its value in help. */
const flagKinds: Readonly<Record<string, CompletionKind>> = {
  agent: "agent",
  preset: "preset",
  runtime: "runtime",
  secret: "secret",
  type: "event",
  filter: "filter",
  template: "template",
};
const valueKinds: Readonly<Record<string, CompletionKind>> = {
  AGENT: "agent",
  "A,B": "agent",
  BOX: "box",
  CHECKPOINT: "checkpoint",
  SECRET: "secret",
  FILE: "file",
  DIR: "file",
  PATH: "file",
};

/** The words after `agentbox`, of which the last is the one that is being typed. */
export async function complete(words: readonly string[], sources: CompletionSources): Promise<Candidates> {
  const typed = words.at(-1) ?? "";
  const [name, ...before] = words.slice(0, -1);
  if (name === undefined)
    return fitting(
      sources.commands.map((command) => ({ word: command.name, about: command.summary })),
      typed,
    );
  const found = sources.commands.find((command) => command.name === name);
  // Words after `--` belong to the box.
  if (found === undefined || (found.takesRest && before.includes("--"))) return "files";
  const command = await sources.withAgentFlags(found, before);
  const flags: Readonly<Record<string, FlagSpec>> = { ...command.flags, ...commonFlags };
  const boxes = positionalsOf(before, flags);
  const names = async (kind: CompletionKind): Promise<Candidates> =>
    kind === "file" ? "files" : fitting(asWords(await sources.listNames(kind, boxes[0])), typed);

  const values = async ([name, spec]: readonly [string, FlagSpec]): Promise<Candidates> => {
    if (name === "option") return fitting(optionWords(flags), typed);
    if (spec.choices) return fitting(asWords(spec.choices), typed);
    const kind = flagKinds[name] ?? valueKinds[spec.value ?? ""];
    return kind === undefined ? [] : names(kind);
  };

  const [, inline] = /^(--[a-z-]+)=/.exec(typed) ?? [];
  const joined = valueFlag(inline, flags);
  if (inline !== undefined && joined !== undefined) {
    const found = await complete([...words.slice(0, -1), inline, typed.slice(inline.length + 1)], sources);
    return found === "files" ? found : found.map(({ word }) => ({ word: `${inline}=${word}` }));
  }
  const flag = valueFlag(before.at(-1), flags);
  if (flag !== undefined) return values(flag);
  if (typed.startsWith("-"))
    return fitting(
      Object.entries(flags).map(([flagName, { summary }]) => ({ word: `--${flagName}`, about: summary })),
      typed,
    );
  return positional(command, boxes, names, typed);
}

async function positional(
  { completes, completesNext, takes }: CommandSpec,
  given: readonly string[],
  names: (kind: CompletionKind) => Promise<Candidates>,
  typed: string,
): Promise<Candidates> {
  if (given.length >= takes[1]) return [];
  const isFirst = given.length === 0;
  if (isFirst && Array.isArray(completes)) return fitting(asWords(completes as readonly string[]), typed);
  if (isFirst && typeof completes === "string") return names(completes);
  if (completesNext !== undefined) return names(completesNext);
  // A command for any number of boxes.
  if (completes === "box" && takes[1] === Infinity) return names("box");
  return "files";
}

/** The flag that waits for its value: the word before the one that is typed. */
function valueFlag(
  word: string | undefined,
  flags: Readonly<Record<string, FlagSpec>>,
): readonly [string, FlagSpec] | undefined {
  if (word === undefined || !word.startsWith("-")) return undefined;
  return Object.entries(flags).find(
    ([name, { short, type }]) =>
      type !== "switch" && (word === `--${name}` || (short !== undefined && word === `-${short}`)),
  );
}

/** The words that are neither flags nor their values. */
const positionalsOf = (
  words: readonly string[],
  flags: Readonly<Record<string, FlagSpec>>,
): readonly string[] =>
  words.filter((word, at) => !word.startsWith("-") && valueFlag(words[at - 1], flags) === undefined);

/** `K=` of every option of the agent, and `K=V` where there are few values. */
const optionWords = (flags: Readonly<Record<string, FlagSpec>>): readonly Candidate[] =>
  Object.values(flags).flatMap(({ option, choices, summary }) => {
    if (option === undefined) return [];
    return choices
      ? asWords(choices.map((choice) => `${option}=${choice}`))
      : [{ word: `${option}=`, about: summary }];
  });

const asWords = (words: readonly string[]): readonly Candidate[] => words.map((word) => ({ word }));

const fitting = (candidates: readonly Candidate[], typed: string): readonly Candidate[] =>
  candidates.filter(({ word }) => word.startsWith(typed));
