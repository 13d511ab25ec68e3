import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { anyShell } from "../../agents/launch/launch-shell.ts";
import { parseEnv } from "../new-box/box-request.ts";
import type { RunCommand } from "../command.ts";
import { showEntered, showFull, startCleanLine } from "../render/notes.ts";
import { commandExitCode } from "../terminal/exit-code.ts";
import { runCommand } from "../terminal/run-command.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const [box, ...words] = args.positionals;
  const argv = [...words, ...(args.rest ?? [])];
  const isAtTerminal = screen.isInteractive && !args.isSet("no-terminal");
  const isShell = argv.length === 0;
  if (isShell && !isAtTerminal) {
    throw new AgentBoxError("input.invalid", "There is no command to run, and no terminal for a shell.", {
      hint: `Write: agentbox exec ${box} -- COMMAND`,
    });
  }
  const timeoutMs = args.durationMs("timeout");
  const cwd = args.text("cwd");
  const client = await connect();
  if (isShell) showEntered(screen, box!);
  const { exit, isLeft } = await runCommand(client, box!, screen, {
    argv: isShell ? [...anyShell] : argv,
    leavesByKey: isShell,
    env: parseEnv(args.list("env")),
    wantsTerminal: args.isSet("terminal") || isAtTerminal,
    wantsInput: !args.isSet("no-stdin"),
    ...omitUndefined({ cwd, timeoutMs }),
  });
  if (isLeft) {
    startCleanLine(screen);
    screen.note(`Left ${box}. Its other programs go on.`);
  }
  showFull(screen, exit.full);
  return commandExitCode(exit);
};
