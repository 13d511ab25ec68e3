/** Ends what engines.ts has started: containers first, then the engine, then what it left on the host. */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import { engineRequest } from "./engine-request.ts";
import { enginesDirectory, type StartedEngine } from "./engine-records.ts";
import { isAlive, readEnviron } from "./host-facts.ts";
import { runProgram } from "./program.ts";

export async function stopEngines(): Promise<void> {
  const files = readdirSync(enginesDirectory()).filter((name) => name.endsWith(".json"));
  for (const name of files)
    await stopEngine(JSON.parse(readFileSync(join(enginesDirectory(), name), "utf8")) as StartedEngine);
}

async function stopEngine({ pid, directory, socket, cgroup }: StartedEngine): Promise<void> {
  await removeContainers(socket).catch(() => undefined);
  signalGroup(pid, "SIGTERM");
  await waitFor("the engine ends", () => !isAlive(pid), 20_000).catch(() => signalGroup(pid, "SIGKILL"));
  for (const left of processesOf(directory)) signal(left, "SIGKILL");
  await waitFor("nothing of the engine runs", () => processesOf(directory).length === 0, 10_000).catch(
    () => undefined,
  );
  for (const mount of mountsBelow(directory)) await runProgram(["umount", "--lazy", "--", mount]);
  removeGroups(cgroup);
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}

async function removeContainers(socket: string): Promise<void> {
  const { text } = await engineRequest(socket, "GET", "/v1.41/containers/json?all=true");
  for (const { Id } of JSON.parse(text) as { Id: string }[])
    await engineRequest(socket, "DELETE", `/v1.41/containers/${Id}?force=true&v=true`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

const signalGroup = (pid: number, name: NodeJS.Signals): void => {
  if (pid > 1) signal(-pid, name);
};

/** Processes that were started with this engine's directory in their arguments or environment: shims, monitors. */
function processesOf(directory: string): readonly number[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  return pids.map(Number).filter((pid) => {
    if (pid === process.pid) return false;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return command.includes(directory) || readEnviron(pid).some((one) => one.includes(directory));
    } catch {
      return false;
    }
  });
}

/** Deepest first. */
const mountsBelow = (directory: string): readonly string[] =>
  readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path.startsWith(`${directory}/`))
    .reverse();

/** A control group is removed from its leaves on; in version 1 there is one for every controller. */
function removeGroups(cgroup: string): void {
  const root = "/sys/fs/cgroup";
  const groups = ["", ...(existsSync(root) ? readdirSync(root) : [])].map((name) => join(root, name, cgroup));
  for (const group of groups) if (existsSync(group)) removeGroup(group);
}

function removeGroup(group: string): void {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(group, entry.name));
  try {
    rmdirSync(group);
  } catch {
    // Busy for a moment longer than we wait; it is empty and named after a directory that is gone.
  }
}
