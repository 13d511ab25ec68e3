import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { parseEnv } from "../new-box/box-request.ts";
import type { RunCommand } from "../command.ts";
import { commandExitCode } from "../terminal/exit-code.ts";
import { runCommand } from "../terminal/run-command.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const [box, ...words] = args.positionals;
  const argv = [...words, ...(args.rest ?? [])];
  if (argv.length === 0) {
    throw new AgentBoxError("input.invalid", "There is no command to run.", {
      hint: `Write: agentbox exec ${box} -- COMMAND`,
    });
  }
  const timeoutMs = args.durationMs("timeout");
  const cwd = args.text("cwd");
  const isAtTerminal = screen.isInteractive && !args.isSet("no-terminal");
  const { exit } = await runCommand(await connect(), box!, screen, {
    argv,
    env: parseEnv(args.list("env")),
    wantsTerminal: args.isSet("terminal") || isAtTerminal,
    wantsInput: !args.isSet("no-stdin"),
    ...omitUndefined({ cwd, timeoutMs }),
  });
  return commandExitCode(exit);
};
