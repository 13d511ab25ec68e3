import { messageOf } from "../base/errors.ts";
import { boxPaths } from "../contract/box-paths.ts";
import type { BoxdConfig } from "../contract/link/messages.ts";
import { Boxd } from "./boxd.ts";
import { readBoxConfig } from "./box-config.ts";

const badConfig = 70;
const termGraceMs = 5_000;

/** Everything in the box hangs on boxd, so every failure is reported and survived. */
function surviveErrors(): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error: unknown) => {
      process.stderr.write(
        `boxd: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
    });
  }
  // A log without a reader is no reason to end.
  process.stderr.on("error", () => undefined);
  process.on("SIGPIPE", () => undefined);
  process.on("SIGHUP", () => undefined);
}

function main(configPath: string, socketPath: string): void {
  let config: BoxdConfig;
  try {
    config = readBoxConfig(configPath);
  } catch (error) {
    process.stderr.write(`boxd: the config cannot be read: ${messageOf(error)}\n`);
    process.exitCode = badConfig;
    return;
  }
  surviveErrors();
  const boxd = new Boxd(config, socketPath, () => process.exit(0));
  process.on("SIGTERM", () => void boxd.shutdown(termGraceMs));
  void boxd.start();
}

main(process.argv[2] ?? boxPaths.config, process.argv[3] ?? boxPaths.linkSocket);
