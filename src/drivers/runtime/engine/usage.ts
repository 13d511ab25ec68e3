/** The usage of a box, from the engine's own counters. */
import type Docker from "dockerode";
import type { RuntimeUsage } from "../../../ports/runtime.ts";

/** The parts that are read; an engine without a counter leaves it out. */
interface Stats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: { readonly usage?: number; readonly stats?: Readonly<Record<string, number>> };
  readonly pids_stats?: { readonly current?: number };
}

export async function usageFromStats(container: Docker.Container): Promise<RuntimeUsage> {
  // One look: otherwise the engine takes two, a second apart, to say how busy the box is.
  const stats = (await container.stats({ stream: false, "one-shot": true } as { stream: false })) as Stats;
  return readUsage(stats);
}

/** Without the file pages that the kernel keeps only because the memory is not needed. */
function readUsage(stats: Stats): RuntimeUsage {
  const memory = stats.memory_stats;
  const cache = memory?.stats?.["total_inactive_file"] ?? memory?.stats?.["inactive_file"] ?? 0;
  return {
    cpuMs: Math.round((stats.cpu_stats?.cpu_usage?.total_usage ?? 0) / 1e6),
    memoryBytes: Math.max(0, (memory?.usage ?? 0) - cache),
    processes: stats.pids_stats?.current ?? 0,
  };
}
