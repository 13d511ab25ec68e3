/** Finds, names and ends the processes of a box. A process is signalled only after it was shown to be the box's. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AgentBoxError } from "../../../base/errors.ts";
import {
  listPids,
  readCmdline,
  readNamespace,
  readProcessStat,
  signalProcess,
} from "../../../host/processes.ts";
import type { RuntimeUsage } from "../../../ports/runtime.ts";
import { chainMark } from "./launch-plan.ts";
import type { BoxRecord, ProcessIdentity } from "./records.ts";

const chainPrograms = new Set(["sh", "bwrap", "setpriv", "prlimit", "systemd-run"]);

export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readProcessStat(pid);
  return stat === undefined ? undefined : { pid, startTicks: stat.startTicks };
}

export async function lives(process: ProcessIdentity): Promise<boolean> {
  const stat = await readProcessStat(process.pid);
  return (
    stat !== undefined && stat.startTicks === process.startTicks && stat.state !== "Z" && stat.state !== "X"
  );
}

function hasMark(argv: readonly string[], linkDir: string): boolean {
  const mark = chainMark(linkDir);
  return argv.some((_, at) => mark.every((part, offset) => argv[at + offset] === part));
}

/** SECURITY: the pid may have been reused since it was written down; only a process with this box's argv counts. */
async function identifyChainProcess(pid: number, linkDir: string): Promise<ProcessIdentity | undefined> {
  const before = await identify(pid);
  const argv = await readCmdline(pid);
  if (before === undefined || !chainPrograms.has(basename(argv[0] ?? "")) || !hasMark(argv, linkDir))
    return undefined;
  return (await lives(before)) ? before : undefined;
}

/** Every process of the chain, by a look at the whole host; for a box whose starter was killed too early. */
export async function scanChain(linkDir: string): Promise<readonly ProcessIdentity[]> {
  const found = await Promise.all((await listPids()).map((pid) => identifyChainProcess(pid, linkDir)));
  return found.filter((process) => process !== undefined);
}

/** Ends a chain that is still coming up: looks again until nothing is found, because what is killed may just have forked. */
export async function killChain(linkDir: string, name: string): Promise<void> {
  for (;;) {
    const found = await scanChain(linkDir);
    if (found.length === 0) return;
    await killAll(found, name);
  }
}

/** The box's first process as far as the records tell; undefined when it does not live. */
export async function findFirst(
  record: BoxRecord,
  bootId: string,
  reportedPid: number | undefined,
): Promise<ProcessIdentity | undefined> {
  if (record.bootId !== bootId) return undefined;
  if (record.first !== undefined) return (await lives(record.first)) ? record.first : undefined;
  return reportedPid === undefined ? undefined : identifyChainProcess(reportedPid, record.link);
}

export async function pidsInBox(first: ProcessIdentity): Promise<readonly number[]> {
  const namespace = await readNamespace(first.pid, "pid");
  if (namespace === undefined) return [];
  const pids = await listPids();
  const namespaces = await Promise.all(pids.map((pid) => readNamespace(pid, "pid")));
  return pids.filter((_, index) => namespaces[index] === namespace);
}

/** boxd: the child of the box's first process that is number 2 inside. Orphans have the same parent, not the number. */
export async function findSupervisor(first: ProcessIdentity): Promise<number | undefined> {
  for (const pid of await childrenOf(first.pid)) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    if (/^NSpid:.*\t2$/m.test(status)) return pid;
  }
  return undefined;
}

export async function childrenOf(pid: number): Promise<readonly number[]> {
  try {
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.trim() === "" ? [] : text.trim().split(" ").map(Number);
  } catch {
    // A kernel without this file, or a process that is gone.
    const stats = await Promise.all((await listPids()).map((other) => readProcessStat(other)));
    return stats.filter((stat) => stat?.parent === pid).map((stat) => stat!.pid);
  }
}

export async function waitUntilGone(process: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let waitMs = 1; await lives(process); waitMs = Math.min(50, waitMs * 2)) {
    if (performance.now() >= deadline) return false;
    await delay(Math.min(waitMs, Math.max(1, deadline - performance.now())));
  }
  return true;
}

/** Ends processes and waits for their end. With a box's first process, everything in the box ends. */
export async function killAll(processes: readonly ProcessIdentity[], name: string): Promise<void> {
  for (const process of processes) if (await lives(process)) signalProcess(process.pid, "SIGKILL");
  for (const process of processes) {
    if (await waitUntilGone(process, 10_000)) continue;
    throw new AgentBoxError("internal.unexpected", `Process ${process.pid} of box "${name}" does not end.`, {
      hint: "It waits inside the kernel, often for a disk or network file system that does not answer.",
    });
  }
}

const ticksPerSecond = 100;

/** Sums over the processes that live now; what ended ones have used is not known without a control group. */
export async function usageFromProc(first: ProcessIdentity): Promise<RuntimeUsage> {
  const usages = await Promise.all((await pidsInBox(first)).map(processUsage));
  return usages.reduce<RuntimeUsage>(
    (all, one) => ({
      cpuMs: all.cpuMs + one.cpuMs,
      memoryBytes: all.memoryBytes + one.memoryBytes,
      processes: all.processes + 1,
    }),
    { cpuMs: 0, memoryBytes: 0, processes: 0 },
  );
}

async function processUsage(pid: number): Promise<{ readonly cpuMs: number; readonly memoryBytes: number }> {
  const stat = await readProcessStat(pid);
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return {
    cpuMs: Math.round(((stat?.cpuTicks ?? 0) * 1000) / ticksPerSecond),
    memoryBytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024,
  };
}
