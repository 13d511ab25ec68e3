/** The facts of /proc about processes. Everything here may race with their end, so everything may be undefined. */
import { readFile, readdir, readlink } from "node:fs/promises";

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  /** Clock ticks since boot; with the pid, this names a process for as long as the host runs. */
  readonly startTicks: number;
  readonly cpuTicks: number;
  readonly rssPages: number;
}

export async function readProcessStat(pid: number): Promise<ProcessStat | undefined> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The name may contain spaces and parentheses; the fields after the last one are safe to split.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    state: fields[0]!,
    parent: Number(fields[1]),
    cpuTicks: Number(fields[11]) + Number(fields[12]),
    startTicks: Number(fields[19]),
    rssPages: Number(fields[21]),
  };
}

export async function readCmdline(pid: number): Promise<readonly string[]> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").slice(0, -1);
  } catch {
    return [];
  }
}

/** The identity of a process's namespace, such as `pid:[4026532281]`. */
export async function readNamespace(
  pid: number,
  kind: "pid" | "net" | "mnt" | "user",
): Promise<string | undefined> {
  try {
    return await readlink(`/proc/${pid}/ns/${kind}`);
  } catch {
    return undefined;
  }
}

export async function listPids(): Promise<readonly number[]> {
  const names = await readdir("/proc");
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Signals a process that may be gone already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
