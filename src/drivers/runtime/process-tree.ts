/** Processes of a box seen from the host, through /proc alone. A pid counts only with the time it was started at. */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { listPids, readNamespace, readProcessStat } from "../../host/processes.ts";
import type { RuntimeUsage } from "../../ports/runtime.ts";

/** Names one process for as long as the host runs: a pid alone may belong to a stranger by now. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: number;
}

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

export async function pidsInBox(first: ProcessIdentity): Promise<readonly number[]> {
  const namespace = await readNamespace(first.pid, "pid");
  if (namespace === undefined) return [];
  const pids = await listPids();
  const namespaces = await Promise.all(pids.map((pid) => readNamespace(pid, "pid")));
  return pids.filter((_, index) => namespaces[index] === namespace);
}

export async function waitUntilGone(process: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let waitMs = 1; await lives(process); waitMs = Math.min(50, waitMs * 2)) {
    if (performance.now() >= deadline) return false;
    await delay(Math.min(waitMs, Math.max(1, deadline - performance.now())));
  }
  return true;
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
