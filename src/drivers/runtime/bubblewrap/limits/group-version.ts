/** The two generations of control groups as data: which file takes which value. */
import type { ResourceSpec } from "../../../../contract/box.ts";
import type { LimitName } from "./limiter.ts";

export type Controller = "cpu" | "cpuacct" | "memory" | "pids" | "freezer";

export interface Setting {
  readonly controller: Controller;
  readonly file: string;
  readonly value: string;
  /** Not every kernel has it, and the limit holds without it. */
  readonly isOptional: boolean;
}

export interface GroupVersion {
  readonly name: "cgroup v1" | "cgroup v2";
  /** The file whose presence shows that a limit can be set. */
  readonly limitFile: Readonly<Record<LimitName, { readonly controller: Controller; readonly file: string }>>;
  settings(resources: ResourceSpec): readonly Setting[];
  readonly freeze: {
    readonly file: string;
    readonly frozen: string;
    readonly thawed: string;
    readonly stateFile: string;
    readonly isFrozen: (state: string) => boolean;
  };
  readonly cpu: { readonly file: string; readonly toMs: (text: string) => number };
  readonly memory: { readonly file: string; readonly inactiveKey: string };
}

const periodUs = 100_000;
/** The kernel takes no quota below one millisecond. */
const quotaUs = (cpus: number): number => Math.max(1_000, Math.round(cpus * periodUs));

const setting = (
  controller: Controller,
  file: string,
  value: number | string,
  isOptional = false,
): Setting => ({
  controller,
  file,
  value: String(value),
  isOptional,
});

export const cgroupV1: GroupVersion = {
  name: "cgroup v1",
  limitFile: {
    cpus: { controller: "cpu", file: "cpu.cfs_quota_us" },
    memory: { controller: "memory", file: "memory.limit_in_bytes" },
    pids: { controller: "pids", file: "pids.max" },
  },
  settings: ({ cpus, memoryBytes, pids }) => [
    ...(cpus === undefined
      ? []
      : [setting("cpu", "cpu.cfs_period_us", periodUs), setting("cpu", "cpu.cfs_quota_us", quotaUs(cpus))]),
    ...(memoryBytes === undefined
      ? []
      : [
          setting("memory", "memory.limit_in_bytes", memoryBytes),
          // Memory and swap together, so that a box at its limit is ended and does not swap the host to death.
          setting("memory", "memory.memsw.limit_in_bytes", memoryBytes, true),
          setting("memory", "memory.swappiness", 0, true),
        ]),
    ...(pids === undefined ? [] : [setting("pids", "pids.max", pids)]),
  ],
  freeze: {
    file: "freezer.state",
    frozen: "FROZEN",
    thawed: "THAWED",
    stateFile: "freezer.state",
    isFrozen: (state) => state.trim() === "FROZEN",
  },
  cpu: { file: "cpuacct.usage", toMs: (text) => Number(text) / 1e6 },
  memory: { file: "memory.usage_in_bytes", inactiveKey: "total_inactive_file" },
};

export const cgroupV2: GroupVersion = {
  name: "cgroup v2",
  limitFile: {
    cpus: { controller: "cpu", file: "cpu.max" },
    memory: { controller: "memory", file: "memory.max" },
    pids: { controller: "pids", file: "pids.max" },
  },
  settings: ({ cpus, memoryBytes, pids }) => [
    ...(cpus === undefined ? [] : [setting("cpu", "cpu.max", `${quotaUs(cpus)} ${periodUs}`)]),
    ...(memoryBytes === undefined
      ? []
      : [setting("memory", "memory.max", memoryBytes), setting("memory", "memory.swap.max", 0, true)]),
    ...(pids === undefined ? [] : [setting("pids", "pids.max", pids)]),
  ],
  freeze: {
    file: "cgroup.freeze",
    frozen: "1",
    thawed: "0",
    stateFile: "cgroup.events",
    isFrozen: (state) => /^frozen 1$/m.test(state),
  },
  cpu: { file: "cpu.stat", toMs: (text) => Number(/^usage_usec (\d+)$/m.exec(text)?.[1]) / 1e3 },
  memory: { file: "memory.current", inactiveKey: "inactive_file" },
};
