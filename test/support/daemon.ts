import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import { type Client, createClient, unixTransport } from "../../src/client/index.ts";
import { asUserArgv, isAlive, isRoot, readEnviron } from "./host-facts.ts";
import { type ProgramOptions, type ProgramResult, runProgram } from "./program.ts";
import { builtTree, stagedTree } from "./staged-tree.ts";
import { engineEnv, runtimeConfig, testRuntime } from "./test-runtime.ts";

export interface TestDaemonOptions {
  /** Run the daemon and the CLI as this user; only root can choose. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly env?: Readonly<Record<string, string>>;
  /** A home that exists already, such as a small disk; it is left where it is. */
  readonly home?: string;
  /** The command that the daemon is started through, such as a namespace in which a part is missing. */
  readonly wrap?: (argv: readonly string[]) => readonly string[];
}

/** A daemon of the built program on a home of its own. Disposing ends and removes all of it. */
export interface TestDaemon extends AsyncDisposable {
  readonly home: string;
  readonly socket: string;
  /** A directory of the same user, for projects and files. */
  readonly scratch: string;
  readonly client: Client;
  readonly pid: number;
  /** The daemon's log so far. */
  log(): string;
  cli(args: readonly string[], options?: ProgramOptions): Promise<ProgramResult>;
  /** The CLI's answer with --json; fails the test when the command fails. */
  json<T>(args: readonly string[], options?: ProgramOptions): Promise<T>;
  /** argv and environment of the CLI, for tests that must hold the process themselves. */
  command(args: readonly string[]): { readonly argv: readonly string[]; readonly env: NodeJS.ProcessEnv };
  /** kill -9, as a crash. Boxes stay. */
  kill(): Promise<void>;
  /** SIGTERM, as a service manager does. Boxes stay. */
  stop(): Promise<void>;
  /** Starts the daemon again on the same home. */
  start(): Promise<void>;
}

/** Processes whose environment or command line names this home: the daemon, boxd's launcher, the CLI. */
function processesOf(home: string): readonly { pid: number; command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const pid = Number(name);
    let command: string;
    try {
      command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      continue;
    }
    const isOurs =
      pid !== process.pid && (command.includes(home) || readEnviron(pid).includes(`AGENTBOX_HOME=${home}`));
    if (isOurs) found.push({ pid, command });
  }
  return found;
}

const mountNamespace = (pid: number | "self"): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined;
  }
};

/**
 * Processes inside boxes of this home: they live in another mount namespace, and what they see comes from below the
 * home. That is how a forgotten box is found that nothing else leads to. A mount that merely lies below the home
 * does not count, because every process of the host sees that one.
 */
export function boxedProcesses(home: string): readonly number[] {
  const own = mountNamespace("self");
  const below = `/${basename(home)}/`;
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      const namespace = mountNamespace(pid);
      if (namespace === undefined || namespace === own) return false;
      try {
        const mounts = readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n");
        return mounts.some((line) => {
          const [, , , source = "", target = ""] = line.split(" ");
          return source.includes(below) && !target.includes(below);
        });
      } catch {
        return false;
      }
    });
}

/** Every process that belongs to this home, inside a box or outside. */
export function leftovers(home: string): readonly string[] {
  const named = processesOf(home);
  const known = new Set(named.map(({ pid }) => pid));
  const boxed = boxedProcesses(home).filter((pid) => !known.has(pid));
  return [
    ...named.map(({ pid, command }) => `${pid} ${command}`),
    ...boxed.map((pid) => `${pid} (in a box of ${home})`),
  ];
}

/** Short, because the path of a unix socket below it must fit in 108 bytes. */
function makeHome(user: TestDaemonOptions["user"]): string {
  const home = mkdtempSync("/tmp/abx-");
  if (user && isRoot) chownSync(home, user.uid, user.gid);
  // As the daemon itself would leave it: for root, a box's own user must be let through.
  chmodSync(home, isRoot && !user ? 0o711 : 0o700);
  return home;
}

function writeRuntimeConfig(home: string): void {
  const file = join(home, "config.toml");
  if (existsSync(file)) return;
  writeFileSync(file, runtimeConfig, { mode: 0o600 });
  const { uid, gid } = statSync(home);
  chownSync(file, uid, gid);
}

export async function startDaemon(options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const user = options.user ?? testRuntime?.user;
  const home = options.home ?? makeHome(user);
  if (runtimeConfig !== "") writeRuntimeConfig(home);
  const scratch = makeHome(user);
  const tree = user && isRoot ? stagedTree() : builtTree();
  const prefix = user && isRoot ? asUserArgv(user) : [];
  const env: NodeJS.ProcessEnv = {
    PATH: process.env["PATH"],
    HOME: scratch,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    NO_COLOR: "1",
    ...(await engineEnv()),
    ...options.env,
    AGENTBOX_HOME: home,
  };
  const socket = join(home, "daemon.sock");
  const client = createClient(unixTransport(socket));
  const command = (args: readonly string[]) => ({
    argv: [...prefix, process.execPath, join(tree, "dist/main.js"), ...args],
    env,
  });
  let child: ChildProcess;
  let log = "";

  const start = async () => {
    const plain = command(["daemon", "run"]).argv;
    const argv = options.wrap?.(plain) ?? plain;
    child = spawn(argv[0] ?? "", argv.slice(1), { cwd: scratch, env, stdio: ["ignore", "pipe", "pipe"] });
    const keep = (chunk: Buffer) => {
      log += chunk.toString();
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    const isAnswering = async () => {
      if (child.exitCode !== null) throw new Error(`The daemon ended with ${child.exitCode}:\n${log}`);
      return existsSync(socket) && (await client.getInfo().catch(() => undefined)) !== undefined;
    };
    // On a new home it makes its directories and authority first; on a busy machine that takes a while.
    await waitFor(`the daemon on ${home} answers`, isAnswering, 45_000);
  };
  const signal = async (name: NodeJS.Signals) => {
    child.kill(name);
    await waitFor(
      `the daemon ends after ${name}`,
      () => child.exitCode !== null || child.signalCode !== null,
    );
  };
  const cli = (args: readonly string[], programOptions: ProgramOptions = {}) => {
    const { argv } = command(args);
    const merged = { ...env, ...programOptions.env };
    return runProgram(argv, { cwd: scratch, ...programOptions, env: merged });
  };

  const daemon: TestDaemon = {
    home,
    socket,
    scratch,
    client,
    get pid() {
      return child.pid ?? -1;
    },
    log: () => log,
    cli,
    async json<T>(args: readonly string[], programOptions?: ProgramOptions) {
      const result = await cli([...args, "--json"], programOptions);
      if (result.code !== 0)
        throw new Error(`agentbox ${args.join(" ")} ended with ${result.code}: ${result.stderr}`);
      return JSON.parse(result.stdout) as T;
    },
    command,
    kill: () => signal("SIGKILL"),
    stop: () => signal("SIGTERM"),
    start,
    async [Symbol.asyncDispose]() {
      try {
        // A daemon that a test killed comes back once, because only it can remove its boxes.
        if (child.exitCode !== null || child.signalCode !== null) await start();
        const boxes = await client.listBoxes();
        for (const box of boxes)
          await client.removeBox(box.name, { force: true, keep: false }).catch((error: { code?: string }) => {
            // A run that has ended removes its own box, perhaps just now.
            if (error.code !== "box.not_found") throw error;
          });
        if (options.env?.["AGENTBOX_ENGINE"] === undefined) expectTestRuntime(boxes);
        await signal("SIGTERM");
        await waitFor(`no process of ${home} is left`, () => leftovers(home).length === 0, 10_000);
      } catch (error) {
        throw new Error(
          `${(error as Error).message}\nLeft over: ${leftovers(home).join("; ") || "nothing"}\n${log}`,
          {
            cause: error,
          },
        );
      } finally {
        destroy(home);
        for (const directory of options.home === undefined ? [home, scratch] : [scratch])
          rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
      }
    },
  };
  try {
    await start();
  } catch (error) {
    destroy(home);
    for (const directory of [home, scratch]) rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return daemon;
}

/** A test that writes a config of its own could lose the runtime under test, and would pass without having looked at it. */
function expectTestRuntime(boxes: readonly { readonly name: string; readonly runtime: string }[]): void {
  const strays = boxes.filter(({ runtime }) => runtime !== (testRuntime?.name ?? runtime));
  if (strays.length > 0)
    throw new Error(
      `Made in another runtime: ${strays.map((box) => `${box.name} in ${box.runtime}`).join()}`,
    );
}

/** Last resort, so that a failing test does not disturb the next: ends by pid what belongs to this home alone. */
function destroy(home: string): void {
  for (const pid of [...processesOf(home).map((one) => one.pid), ...boxedProcesses(home)]) {
    try {
      if (isAlive(pid)) process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
}

/** `await withDaemon(async (daemon) => …)`: the daemon lives exactly as long as the body. */
export async function withDaemon<T>(
  body: (daemon: TestDaemon) => Promise<T>,
  options: TestDaemonOptions = {},
): Promise<T> {
  await using daemon = await startDaemon(options);
  return await body(daemon);
}
