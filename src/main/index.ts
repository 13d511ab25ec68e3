/** Where the program starts: the daemon, or a command. The only file that ends the process. */
const [, program = "", ...argv] = process.argv;

const isDaemon = argv.length === 2 && argv[0] === "daemon" && argv[1] === "run";
const code = isDaemon ? await runDaemonProcess() : await runCommand();

// The output must be written before the process ends, or a pipe loses its tail.
await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
process.exit(code);

async function runDaemonProcess(): Promise<number> {
  const { closeInheritedFiles } = await import("../host/inherited-files.ts");
  closeInheritedFiles();
  const { runDaemon } = await import("./daemon.ts");
  const { toAgentBoxError } = await import("../base/errors.ts");
  try {
    // This file is the entry of the bundle, so what was built with it lies beside it.
    return await runDaemon(new URL("./boxd/", import.meta.url));
  } catch (thrown) {
    // stderr is the daemon's log file, where the command that started it looks for the reason.
    const error = toAgentBoxError(thrown, "daemon.start_failed");
    process.stderr.write(`error[${error.code}]: ${error.message}${error.hint ? ` ${error.hint}` : ""}\n`);
    return error.exitCode;
  }
}

async function runCommand(): Promise<number> {
  const { runCli } = await import("../cli/index.ts");
  return runCli({
    argv,
    program,
    streams: process,
    loadCatalogue,
  });
}

async function loadCatalogue() {
  const { agents } = await import("../agents/index.ts");
  const { runtimeModules } = await import("./builtins.ts");
  return { agents, runtimeNames: Object.keys(runtimeModules), loadPresetNames };
}

async function loadPresetNames() {
  const { openPresets } = await import("../services/presets/index.ts");
  // The names are always the same; only their values depend on the environment.
  return openPresets({}).names;
}
