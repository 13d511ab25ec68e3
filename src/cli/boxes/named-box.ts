import type { CommandContext } from "../command.ts";
import { missingWord, surplusWord } from "../line/arguments.ts";

export interface NamedBox {
  readonly box: string;
  /** The words after it. */
  readonly others: readonly string[];
}

/** The box of a command that takes it as its next word or with --box; `others` is how many words follow it. */
export function getNamedBox(
  { args, command }: Pick<CommandContext, "args" | "command">,
  words: readonly string[],
  others = 0,
  usage = command.usage,
): NamedBox {
  const flag = args.text("box");
  const [box, ...rest] = flag === undefined ? words : [flag, ...words];
  if (box !== undefined && rest.length === others) return { box, others: rest };
  if (box === undefined || rest.length < others)
    throw missingWord(usage, box === undefined ? 0 : rest.length + 1);
  throw surplusWord({ ...command, usage }, rest[others]!);
}
