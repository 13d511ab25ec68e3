import { AgentBoxError } from "../../base/errors.ts";
import type { CommandContext } from "../command.ts";

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
  const problem = box === undefined || rest.length < others ? "needs more" : "takes fewer";
  throw new AgentBoxError("input.invalid", `"agentbox ${command.name}" ${problem} arguments.`, {
    hint: `Usage: agentbox ${usage}`,
  });
}
