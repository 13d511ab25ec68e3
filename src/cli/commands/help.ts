import { AgentBoxError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import type { RunCommand } from "../command.ts";
import { renderCommandHelp, renderOverview } from "../render/help.ts";
import { commands, findCommand } from "../table/index.ts";

export const run: RunCommand = async ({ args, screen }) => {
  const name = args.positionals[0];
  if (name === undefined) {
    screen.print(renderOverview(commands, screen.style));
    return 0;
  }
  const command = findCommand(name);
  if (command === undefined) {
    const names = commands.map((each) => each.name);
    throw new AgentBoxError("command.unknown", `There is no command "${name}".`, {
      hint: `Did you mean: agentbox help ${suggest(name, names) ?? "run"}`,
    });
  }
  screen.print(renderCommandHelp(command, screen.style));
  return 0;
};
