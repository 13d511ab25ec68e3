/** Finds, names and ends the processes of a box. A process is signalled only after it was shown to be the box's. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { AgentBoxError } from "../../../base/errors.ts";
import { listPids, readCmdline, readProcessStat, signalProcess } from "../../../host/processes.ts";
import { identify, lives, type ProcessIdentity, waitUntilGone } from "../process-tree.ts";
import { chainMark } from "./launch-plan.ts";
import type { BoxRecord } from "./records.ts";

const chainPrograms = new Set(["sh", "bwrap", "setpriv", "prlimit", "systemd-run"]);

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

/**
 * Ends a chain that is still coming up: looks again until it finds none, because a killed process may just have forked.
 */
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
