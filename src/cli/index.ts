/** The command line: finds the command, runs it, shows what went wrong. Returns the exit code, never exits. */
import { exitCodes } from "../base/error-codes.ts";
import { readHostEnv } from "../host/env.ts";
import { parseArguments } from "./line/arguments.ts";
import type { Catalogue, CommandSpec } from "./command.ts";
import { exitCodeOf, showError } from "./render/error.ts";
import { Screen, type ScreenStreams } from "./render/screen.ts";
import { findCommand } from "./table/index.ts";

export interface CliOptions {
  readonly argv: readonly string[];
  readonly program: string;
  readonly streams: ScreenStreams;
  readonly loadCatalogue: () => Promise<Catalogue>;
}

const aliases: Readonly<Record<string, readonly string[]>> = {
  "--help": ["help"],
  "-h": ["help"],
  "--version": ["version"],
  "-v": ["version"],
  list: ["ls"],
  ps: ["ls"],
};

export async function runCli(options: CliOptions): Promise<number> {
  const [typed = "help", ...others] = options.argv;
  const [name = typed, ...before] = Object.hasOwn(aliases, typed) ? aliases[typed]! : [typed];
  const argv = [...before, ...others];
  const env = readHostEnv();
  const screen = new Screen(options.streams, { isJson: asksForJson(argv), noColor: env.noColor });
  const outputClosed = new Promise<number>((resolve) => {
    screen.streams.stdout.on("error", () => (screen.onClosedOutput ? screen.onClosedOutput() : resolve(0)));
  });
  return Promise.race([outputClosed, dispatch(name, argv, screen, options)]);
}

/** Before the flags are parsed, because an error in them is to be shown as JSON, too. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}

async function showHelp(screen: Screen, command: CommandSpec): Promise<void> {
  const { renderCommandHelp } = await import("./render/help.ts");
  screen.print(renderCommandHelp(command, screen.style));
}

/** A command such as `vault`, which does nothing without a verb: people who type only that want to know which there are. */
const isBareVerb = ({ completes, takes }: CommandSpec, argv: readonly string[]): boolean =>
  argv.length === 0 && takes[0] > 0 && Array.isArray(completes);

async function dispatch(
  name: string,
  argv: readonly string[],
  screen: Screen,
  options: CliOptions,
): Promise<number> {
  let command: CommandSpec | undefined;
  let isParsed = false;
  try {
    command = findCommand(name);
    if (command === undefined) {
      const { unknownCommand } = await import("./line/unknown-command.ts");
      const { agents } = await options.loadCatalogue();
      throw unknownCommand(name, (word) => Object.hasOwn(agents, word));
    }
    if (isBareVerb(command, argv)) {
      await showHelp(screen, command);
      return exitCodes.invalid;
    }
    if (command.takesAgentOptions) {
      const { withAgentFlags } = await import("./line/agent-flags.ts");
      command = await withAgentFlags(command, argv, options.loadCatalogue);
    }
    const args = parseArguments(command, argv);
    isParsed = true;
    if (args.isSet("help")) {
      await showHelp(screen, command);
      return 0;
    }
    const env = readHostEnv();
    const { run } = await command.load();
    const connect = async () => {
      const { connectToDaemon } = await import("./daemon/connect.ts");
      return connectToDaemon({ env, program: options.program, screen });
    };
    const { loadCatalogue, program } = options;
    return await run({ command, args, screen, env, cwd: process.cwd(), program, connect, loadCatalogue });
  } catch (error) {
    showError(screen, error);
    return exitCodeOf(error, isParsed && command?.passesExitCode === true);
  }
}
