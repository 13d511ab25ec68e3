import { mkdirSync } from "node:fs";
import { messageOf } from "../base/errors.ts";
import { boxPaths } from "../contract/box-paths.ts";
import type { BoxdConfig } from "../contract/link/messages.ts";
import { Boxd } from "./boxd.ts";
import { readBoxConfig } from "./box-config.ts";

const badConfig = 70;
const termGraceMs = 5_000;

/** Where servers of Debian put sockets, logs and temporary files; their packages make these when they are installed. */
const serverDirs = [
  "/run/lock",
  "/run/mysqld",
  "/run/postgresql",
  "/run/redis",
  "/var/lib/nginx",
  "/var/log/mysql",
  "/var/log/nginx",
  "/var/log/postgresql",
  "/var/log/redis",
];

/** Memory is empty at every start. Where an image has files of its own, what cannot be made is left out. */
function makeServerDirs(): void {
  for (const path of serverDirs) {
    try {
      mkdirSync(path, { recursive: true, mode: 0o755 });
    } catch {
      // Read-only here.
    }
  }
}

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

// Only in a box, where no other config is named.
if (process.argv[2] === undefined) makeServerDirs();
main(process.argv[2] ?? boxPaths.config, process.argv[3] ?? boxPaths.linkSocket);
