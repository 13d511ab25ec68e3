import type { RunCommand } from "../command.ts";
import { unknownCommand } from "../line/unknown-command.ts";
import { renderCommandHelp, renderOverview } from "../render/help.ts";
import { commands, findCommand } from "../table/index.ts";

export const run: RunCommand = async ({ args, screen, loadCatalogue }) => {
  const name = args.positionals[0];
  if (name === undefined) {
    screen.print(renderOverview(commands, screen.style));
    return 0;
  }
  const command = findCommand(name);
  if (command === undefined) {
    const { agents } = await loadCatalogue();
    throw unknownCommand(name, (word) => Object.hasOwn(agents, word));
  }
  screen.print(renderCommandHelp(command, screen.style));
  return 0;
};
