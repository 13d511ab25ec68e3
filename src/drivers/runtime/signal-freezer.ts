/** Stops every process of a box where it stands, and lets it go on. Survives a restart of the daemon by itself. */
import { setTimeout as delay } from "node:timers/promises";
import { AgentBoxError } from "../../base/errors.ts";
import { readProcessStat, signalProcess } from "../../host/processes.ts";
import { pidsInBox, type ProcessIdentity } from "./process-tree.ts";

export interface Freezer {
  freeze(name: string, first: ProcessIdentity): Promise<void>;
  thaw(name: string, first: ProcessIdentity): Promise<void>;
  isFrozen(name: string, first: ProcessIdentity): Promise<boolean>;
}

const isStopped = async (pid: number): Promise<boolean> => {
  const state = (await readProcessStat(pid))?.state;
  return state === undefined || state === "T" || state === "t" || state === "Z" || state === "X";
};

/**
 * By signals, where there is no control group. The box's first process is stopped too, which is only possible from
 * outside the box: its state therefore says whether the box is paused.
 */
export const signalFreezer: Freezer = {
  async freeze(name, first) {
    const deadline = performance.now() + 5_000;
    signalProcess(first.pid, "SIGSTOP");
    for (;;) {
      // Again and again, because a process may have made another one before it was stopped.
      const running: number[] = [];
      for (const pid of await pidsInBox(first)) if (!(await isStopped(pid))) running.push(pid);
      if (running.length === 0) return;
      for (const pid of running) signalProcess(pid, "SIGSTOP");
      if (performance.now() > deadline) {
        await signalFreezer.thaw(name, first);
        throw new AgentBoxError(
          "internal.unexpected",
          `Box "${name}" makes processes faster than they can be stopped.`,
        );
      }
      await delay(2);
    }
  },
  async thaw(_name, first) {
    for (const pid of await pidsInBox(first)) if (pid !== first.pid) signalProcess(pid, "SIGCONT");
    signalProcess(first.pid, "SIGCONT");
  },
  isFrozen: async (_name, first) => (await readProcessStat(first.pid))?.state === "T",
};
