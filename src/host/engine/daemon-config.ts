/**
 * The configuration file of a Docker engine of this host: found through the process that listens on its socket, changed
 * by adding one runtime and nothing else, with what was there kept beside it.
 */
import { chmod, copyFile, mkdir, readFile, readlink, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { readHostEnv } from "../env.ts";
import { writeFileAtomic } from "../files.ts";
import { listPids, readCmdline, readProcessStat } from "../processes.ts";

export interface EngineProcess {
  readonly pid: number;
  readonly uid: number;
  /** With the pid, this names the process for as long as the host runs. */
  readonly startTicks: number;
  readonly argv: readonly string[];
}

/**
 * The dockerd that listens there; undefined when there is none, or when it belongs to a user whose files are closed.
 */
export async function findEngineProcess(socketPath: string): Promise<EngineProcess | undefined> {
  const path = await realpath(socketPath).catch(() => socketPath);
  const lines = (await readFile("/proc/net/unix", "utf8"))
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const inodes = new Set(
    lines.filter((fields) => fields[7] === path).map((fields) => `socket:[${fields[6]}]`),
  );
  for (const pid of await listPids()) {
    const argv = await readCmdline(pid);
    // A service manager may hold the same socket open.
    if (argv[0] === undefined || !/(?:^|\/)dockerd$/.test(argv[0]) || !(await holdsOne(pid, inodes)))
      continue;
    const [state, owner] = [await readProcessStat(pid), await stat(`/proc/${pid}`).catch(() => undefined)];
    if (state && owner) return { pid, uid: owner.uid, startTicks: state.startTicks, argv };
  }
  return undefined;
}

async function holdsOne(pid: number, inodes: ReadonlySet<string>): Promise<boolean> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const name of names)
    if (inodes.has(await readlink(`/proc/${pid}/fd/${name}`).catch(() => ""))) return true;
  return false;
}

/** Where it reads its configuration: as it was told, or where Docker looks by itself. */
export function configFileOf(engine: EngineProcess | undefined): string {
  const { uid, userHome } = readHostEnv();
  const argv = engine?.argv ?? [];
  const at = argv.findIndex((word) => word === "--config-file" || word.startsWith("--config-file="));
  const configured = argv[at]?.includes("=") ? argv[at].slice("--config-file=".length) : argv[at + 1];
  if (at > 0 && configured?.startsWith("/")) return configured;
  const isOwn = engine !== undefined && engine.uid !== 0 && engine.uid === uid;
  return isOwn ? join(userHome, ".config/docker/daemon.json") : "/etc/docker/daemon.json";
}

type Json = Readonly<Record<string, unknown>>;

export interface ConfigChange {
  /** The file itself, behind any link. */
  readonly file: string;
  readonly before: string | undefined;
  readonly after: string;
}

/** The file's text with this runtime in it; undefined when it is in there exactly so. Writes nothing. */
export async function planRuntime(
  path: string,
  name: string,
  registration: { readonly path: string; readonly runtimeArgs: readonly string[] },
): Promise<ConfigChange | undefined> {
  const file = await realpath(path).catch(() => path);
  const before = await readFile(file, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new AgentBoxError("file.failed", `${file} cannot be read: ${messageOf(error)}.`, {
      hint: "Run the same as root.",
    });
  });
  const config = before === undefined || before.trim() === "" ? {} : parseConfig(file, before);
  const runtimes = config["runtimes"] ?? {};
  if (!isObject(runtimes)) throw notUnderstood(file, "its runtimes are no list of names");
  const known = runtimes[name];
  if (known !== undefined) {
    if (isObject(known) && JSON.stringify(known["runtimeArgs"]) === JSON.stringify(registration.runtimeArgs))
      return undefined;
    throw new AgentBoxError("file.exists", `${file} has a runtime ${name} already, with other arguments.`, {
      hint: `Change its runtimeArgs by hand to ${JSON.stringify(registration.runtimeArgs)}, or give the other one another name.`,
    });
  }
  const after = { ...config, runtimes: { ...runtimes, [name]: registration } };
  return { file, before, after: `${JSON.stringify(after, null, 2)}\n` };
}

function parseConfig(file: string, text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notUnderstood(file, messageOf(error));
  }
  if (!isObject(value)) throw notUnderstood(file, "it is no object");
  return value;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** SECURITY: what is not understood is not rewritten: an engine without its settings may listen on the network. */
const notUnderstood = (file: string, why: string): AgentBoxError =>
  new AgentBoxError("file.failed", `${file} is not understood, and is left as it is: ${why}.`, {
    hint: "Mend it first, then try again.",
  });

/** Writes the planned text, unless the file has changed meanwhile. Returns the path of the old one. */
export async function applyChange({ file, before, after }: ConfigChange): Promise<string | undefined> {
  try {
    const now = await readFile(file, "utf8").catch(() => undefined);
    if (now !== before)
      throw new AgentBoxError("file.failed", `${file} was changed meanwhile.`, { hint: "Try again." });
    if (before === undefined) {
      await mkdir(dirname(file), { recursive: true, mode: 0o755 });
      await writeFileAtomic(file, after, { mode: 0o644 });
      return undefined;
    }
    const { mode, uid, gid } = await stat(file);
    const backup = `${file}.before-agentbox`;
    await copyFile(file, backup);
    await chmod(backup, mode & 0o777);
    await writeFileAtomic(file, after, { mode: mode & 0o777, owner: { uid, gid } });
    return backup;
  } catch (error) {
    if (error instanceof AgentBoxError) throw error;
    throw new AgentBoxError("file.failed", `${file} cannot be written: ${messageOf(error)}.`, {
      hint: "Run the same as root.",
    });
  }
}

/** Docker reads runtimes again when it is told to. False when this process may not tell it, or it is gone. */
export async function reloadEngine({ pid, startTicks }: EngineProcess): Promise<boolean> {
  // SECURITY: the number may belong to another program by now; a signal to a stranger could end it.
  if ((await readProcessStat(pid))?.startTicks !== startTicks) return false;
  try {
    process.kill(pid, "SIGHUP");
    return true;
  } catch {
    return false;
  }
}
