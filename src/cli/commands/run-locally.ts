import type { RunCommand } from "../command.ts";
import { renderDockerRun } from "../../contract/docker-run.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const line = renderDockerRun(await (await connect()).exportBox(args.positionals[0]!));
  if (screen.isJson) screen.printJson({ command: line });
  else screen.print(line);
  return 0;
};
