/** Limits through the person's own systemd: each box is a transient scope below their user manager. */
import type { ResourceSpec } from "../../../../contract/box.ts";
import { type Enforcement, type Limiter, type LimitName, nowhere } from "./limiter.ts";

export interface ScopeFacts {
  readonly systemdRun: string;
  /** Controllers systemd has handed to the user manager. */
  readonly controllers: readonly string[];
  readonly installation: string;
}

const controllerOf: Record<LimitName, string> = { cpus: "cpu", memory: "memory", pids: "pids" };

export function scopeProperties({ cpus, memoryBytes, pids }: ResourceSpec): readonly string[] {
  const properties = [
    ...(cpus === undefined ? [] : [`CPUQuota=${Math.max(1, Math.round(cpus * 100))}%`]),
    ...(memoryBytes === undefined ? [] : [`MemoryMax=${memoryBytes}`, "MemorySwapMax=0"]),
    ...(pids === undefined ? [] : [`TasksMax=${pids}`]),
  ];
  return properties.flatMap((property) => ["-p", property]);
}

export function openSystemdScopes({ systemdRun, controllers, installation }: ScopeFacts): Limiter {
  const can = (limit: LimitName): Enforcement =>
    controllers.includes(controllerOf[limit])
      ? { isEnforced: true, by: "systemd scope" }
      : { isEnforced: false, by: `systemd does not hand the ${controllerOf[limit]} controller to this user` };
  return {
    can: { cpus: can("cpus"), memory: can("memory"), pids: can("pids") },
    prepare: async (box, resources) => ({
      ...nowhere,
      // SECURITY: the unit's name is made from a checked box name; `--` ends the options before our own argv.
      aroundChain: [
        systemdRun,
        "--user",
        "--scope",
        "--quiet",
        "--collect",
        `--unit=agentbox-${installation}-${box}`,
        ...scopeProperties(resources),
        "--",
      ],
    }),
    release: async () => undefined,
    close: async () => undefined,
    usage: async () => undefined,
    freezer: undefined,
  };
}
