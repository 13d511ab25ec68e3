/**
 * Limits, freezing and accounting by control groups of either generation. One group per box and hierarchy, named
 * `agentbox/<installation>/<box>`, found again from these names alone after a crash.
 */
import { access, mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AgentBoxError, messageOf, systemCode } from "../../../../base/errors.ts";
import type { ResourceSpec } from "../../../../contract/box.ts";
import { signalProcess } from "../../../../host/processes.ts";
import type { RuntimeUsage } from "../../../../ports/runtime.ts";
import type { Controller, GroupVersion, Setting } from "./group-version.ts";
import type { Enforcement, Enforcements, GroupFreezer, Limiter, LimitName, Placement } from "./limiter.ts";

export interface GroupLocation {
  readonly version: GroupVersion;
  /** `<mount>/agentbox/<installation>` of each controller that can be used here. */
  readonly base: Readonly<Partial<Record<Controller, string>>>;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Makes a group; in the second generation, every group above hands its controllers down first. */
async function makeGroup({ version, base }: GroupLocation, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  if (version.name === "cgroup v1") return;
  const installation = dirname(directory);
  const controllers = (["cpu", "memory", "pids"] as const).filter((name) => base[name] !== undefined);
  for (const parent of [dirname(dirname(installation)), dirname(installation), installation]) {
    for (const controller of controllers) {
      // Refused where processes live in the group itself; what is then missing shows when a limit is written.
      await writeFile(join(parent, "cgroup.subtree_control"), `+${controller}`).catch(() => undefined);
    }
  }
}

export async function openControlGroups(location: GroupLocation): Promise<Limiter> {
  const { version, base } = location;
  const groups = (box: string): readonly string[] => [
    ...new Set(Object.values(base).map((path) => join(path, box))),
  ];
  const freezerBase = version.name === "cgroup v1" ? base.freezer : Object.values(base)[0];

  return {
    can: await enforcements(location),
    async prepare(box, resources): Promise<Placement> {
      for (const group of groups(box)) await makeGroup(location, group);
      await applySettings(location, box, resources);
      return {
        enter: groups(box).map((group) => join(group, "cgroup.procs")),
        aroundChain: [],
        aroundBox: [],
      };
    },
    async release(box) {
      for (const group of groups(box)) await removeGroup(group);
    },
    async close() {
      // Fails where another box or installation still has groups, which is right.
      for (const path of new Set(Object.values(base))) {
        await rmdir(path).then(
          () => rmdir(dirname(path)).catch(() => undefined),
          () => undefined,
        );
      }
    },
    usage: (box) => readUsage(location, box),
    freezer: freezerBase === undefined ? undefined : groupFreezer(version, freezerBase),
  };
}

async function applySettings(
  { version, base }: GroupLocation,
  box: string,
  resources: ResourceSpec,
): Promise<void> {
  const write = async (parent: string, { file, value, isOptional }: Setting): Promise<void> => {
    try {
      await writeFile(join(parent, box, file), value);
    } catch (error) {
      if (isOptional) return;
      throw new AgentBoxError(
        "box.start_failed",
        `The limit ${file}=${value} could not be set: ${messageOf(error)}.`,
        {
          facts: { box, file, value },
          cause: error,
        },
      );
    }
  };
  for (const setting of version.settings(resources)) {
    const parent = base[setting.controller];
    // Absent controllers were reported by `can`; boxes that asked for them by name have been refused already.
    if (parent !== undefined) await write(parent, setting);
  }
}

/** A trial group shows which limits really can be set, on any kernel build. */
async function enforcements(location: GroupLocation): Promise<Enforcements> {
  const { version, base } = location;
  const trial = `.probe-${process.pid}`;
  const check = async (limit: LimitName): Promise<Enforcement> => {
    const { controller, file } = version.limitFile[limit];
    const parent = base[controller];
    if (parent === undefined)
      return { isEnforced: false, by: `${version.name} has no ${controller} controller here` };
    const group = join(parent, trial);
    await makeGroup(location, group).catch(() => undefined);
    const isEnforced = await exists(join(group, file));
    await removeGroup(group);
    return { isEnforced, by: isEnforced ? version.name : `${version.name} has no ${file} here` };
  };
  return { cpus: await check("cpus"), memory: await check("memory"), pids: await check("pids") };
}

async function removeGroup(group: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await rmdir(group);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return;
      if (systemCode(error) !== "EBUSY" || attempt >= 100) throw error;
      // A process that has ended leaves its group a moment later. One that has not is ended here: every process in this
      // group was put there by a start of this box.
      await endMembers(group);
      await delay(10);
    }
  }
}

async function endMembers(group: string): Promise<void> {
  const members = await readFile(join(group, "cgroup.procs"), "utf8").catch(() => "");
  for (const pid of members.split("\n").map(Number)) if (pid > 1) signalProcess(pid, "SIGKILL");
}

function groupFreezer({ freeze }: GroupVersion, base: string): GroupFreezer {
  const isFrozen = async (box: string): Promise<boolean> => {
    try {
      return freeze.isFrozen(await readFile(join(base, box, freeze.stateFile), "utf8"));
    } catch {
      return false;
    }
  };
  const reach = async (box: string, value: string, wanted: boolean): Promise<void> => {
    const deadline = performance.now() + 5_000;
    while ((await isFrozen(box)) !== wanted) {
      // Written again each time: the first generation may stop half-way when a process is born while it freezes.
      await writeFile(join(base, box, freeze.file), value);
      if (performance.now() > deadline) {
        throw new AgentBoxError(
          "internal.unexpected",
          `The control group of "${box}" does not become ${value}.`,
        );
      }
      await delay(5);
    }
  };
  return {
    isFrozen,
    freeze: (box) => reach(box, freeze.frozen, true),
    async thaw(box) {
      // Also when it is only on the way to frozen.
      await writeFile(join(base, box, freeze.file), freeze.thawed).catch(() => undefined);
      await reach(box, freeze.thawed, false);
    },
  };
}

async function readUsage({ version, base }: GroupLocation, box: string): Promise<RuntimeUsage | undefined> {
  const cpuBase = version.name === "cgroup v1" ? base.cpuacct : base.cpu;
  if (cpuBase === undefined || base.memory === undefined) return undefined;
  try {
    const memory = join(base.memory, box);
    const [cpu, used, stat, members] = await Promise.all([
      readFile(join(cpuBase, box, version.cpu.file), "utf8"),
      readFile(join(memory, version.memory.file), "utf8"),
      readFile(join(memory, "memory.stat"), "utf8"),
      readFile(join(memory, "cgroup.procs"), "utf8"),
    ]);
    // File pages that were not used lately are freed as soon as memory is needed; people do not count them.
    const inactive = Number(new RegExp(`^${version.memory.inactiveKey} (\\d+)$`, "m").exec(stat)?.[1] ?? 0);
    return {
      cpuMs: Math.round(version.cpu.toMs(cpu)),
      memoryBytes: Math.max(0, Number(used) - inactive),
      processes: members.split("\n").length - 1,
    };
  } catch {
    return undefined;
  }
}
