/** A Docker engine of one test file's own, which it may stop, kill, start again and configure as it likes. */
import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import { enginesDirectory } from "./engine-records.ts";
import { cgroupParent, isAnswering, launchDocker, spawnEngine } from "./engines.ts";
import { isAlive } from "./host-facts.ts";

export interface OwnEngine {
  readonly directory: string;
  readonly socket: string;
  readonly configFile: string;
  readonly pid: number;
  /** With this signal; resolves when the engine has ended. SIGKILL is a crash. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

export interface OwnEngineOptions {
  /** In place of what the shared engine is configured with. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The command that the engine is started through, such as a namespace in which a part is missing. */
  readonly wrap?: readonly string[];
}

/** Ended and cleaned up with the run's other engines; `name` tells it from those. */
export async function startOwnDocker(
  name: string,
  { config, wrap = [] }: OwnEngineOptions = {},
): Promise<OwnEngine> {
  const directory = mkdtempSync("/tmp/abx-e-");
  chmodSync(directory, 0o755);
  const socket = join(directory, "e.sock");
  const configFile = join(directory, "daemon.json");
  const { argv: engine, env } = launchDocker(directory, socket);
  const argv = [...wrap, ...engine];
  if (config !== undefined) writeFileSync(configFile, JSON.stringify(config));
  let child: ChildProcess;

  const start = async (): Promise<void> => {
    child = spawnEngine(directory, { argv, env });
    const record = {
      kind: "docker",
      pid: child.pid ?? -1,
      directory,
      socket,
      cgroup: cgroupParent(directory),
    };
    writeFileSync(join(enginesDirectory(), `${name}.json`), JSON.stringify(record));
    await waitFor(
      `the engine of ${name} answers`,
      async () => {
        if (child.exitCode !== null)
          throw new Error(`dockerd ended:\n${readFileSync(join(directory, "log"), "utf8").slice(-4000)}`);
        return isAnswering(socket);
      },
      30_000,
    );
  };
  await start();
  return {
    directory,
    socket,
    configFile,
    get pid() {
      return child.pid ?? -1;
    },
    start,
    async stop(signal = "SIGTERM") {
      const pid = child.pid ?? -1;
      child.kill(signal);
      await waitFor("the engine ends", () => child.exitCode !== null || child.signalCode !== null, 30_000);
      await waitFor("nothing of the engine's process is left", () => !isAlive(pid));
      // Its helper ends with it; where it is not reaped, the next engine would take it for alive.
      rmSync(join(directory, "exec/containerd/containerd.pid"), { force: true });
    },
  };
}
