import { AgentBoxError } from "../../base/errors.ts";
import type { RunCommand } from "../command.ts";
import { bashCompletion, fishCompletion, zshCompletion } from "../line/completion.ts";
import { commands } from "../table/index.ts";

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

export const run: RunCommand = async ({ args, screen }) => {
  const shell = args.positionals[0]!;
  if (!Object.hasOwn(shells, shell)) {
    throw new AgentBoxError("input.invalid", `There is no completion for "${shell}".`, {
      hint: "Choose bash, zsh or fish.",
    });
  }
  screen.print(shells[shell as keyof typeof shells](commands));
  return 0;
};
