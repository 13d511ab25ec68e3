/** Finds the strongest way to limit boxes that this host gives this user. */
import { createHash } from "node:crypto";
import { access, mkdir, readFile, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type GroupLocation, openControlGroups } from "./control-groups.ts";
import { cgroupV1, cgroupV2, type Controller } from "./group-version.ts";
import type { Limiter } from "./limiter.ts";
import { openRlimits, withProcessLimit } from "./rlimits.ts";
import { openSystemdScopes } from "./systemd-scope.ts";

export interface LimitHost {
  readonly boxesDir: string;
  readonly uid: number;
  readonly prlimit: string | undefined;
  readonly systemdRun: string | undefined;
}

interface Mount {
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
}

const installationId = (boxesDir: string): string =>
  createHash("sha256").update(boxesDir).digest("hex").slice(0, 8);

const readText = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

export function parseMounts(text: string): readonly Mount[] {
  return text
    .split("\n")
    .map((line) => line.split(" "))
    .filter((fields) => fields.length >= 4)
    .map((fields) => ({ path: fields[1]!, type: fields[2]!, options: fields[3]!.split(",") }));
}

export async function detectLimiter(host: LimitHost): Promise<Limiter> {
  const rlimits = openRlimits(host.prlimit);
  const mounts = parseMounts(await readText("/proc/mounts"));
  const installation = installationId(host.boxesDir);
  const location = (await locateV2(mounts, installation, host)) ?? (await locateV1(mounts, installation));
  if (location !== undefined) {
    const groups = await openControlGroups(location);
    if (Object.values(groups.can).some((one) => one.isEnforced)) return withProcessLimit(groups, rlimits);
  }
  const scopes = await findScopes(mounts, installation, host);
  return scopes === undefined ? rlimits : withProcessLimit(scopes, rlimits);
}

async function canMakeGroupsIn(parent: string): Promise<boolean> {
  try {
    await mkdir(parent, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

async function locateV2(
  mounts: readonly Mount[],
  installation: string,
  { uid }: LimitHost,
): Promise<GroupLocation | undefined> {
  const root = mounts.find((mount) => mount.type === "cgroup2")?.path;
  if (root === undefined) return undefined;
  // Root works below the top, like any other manager of containers; a person only below what was handed to them.
  const own = /^0::(\/.*)$/m.exec(await readText("/proc/self/cgroup"))?.[1] ?? "/";
  const top = uid === 0 ? root : join(root, own);
  const controllers = (await readText(join(top, "cgroup.controllers"))).trim().split(" ");
  const usable = (["cpu", "memory", "pids"] as const).filter((name) => controllers.includes(name));
  if (usable.length === 0) return undefined;
  const base = join(top, "agentbox", installation);
  if (!(await canMakeGroupsIn(base))) return undefined;
  const location = { version: cgroupV2, base: Object.fromEntries(usable.map((name) => [name, base])) };
  if (uid === 0) return location;
  // Without a controller handed further down, a group of ours limits nothing; systemd's scopes do.
  const handedDown = (await readText(join(top, "cgroup.subtree_control"))).trim().split(" ");
  if (usable.every((name) => handedDown.includes(name))) return location;
  for (const group of [base, dirname(base)]) await rmdir(group).catch(() => undefined);
  return undefined;
}

async function locateV1(mounts: readonly Mount[], installation: string): Promise<GroupLocation | undefined> {
  const base: Partial<Record<Controller, string>> = {};
  for (const controller of ["cpu", "cpuacct", "memory", "pids", "freezer"] as const) {
    const mount = mounts.find(({ type, options }) => type === "cgroup" && options.includes(controller));
    if (mount === undefined) continue;
    const path = join(mount.path, "agentbox", installation);
    if (await canMakeGroupsIn(path)) base[controller] = path;
  }
  return Object.keys(base).length === 0 ? undefined : { version: cgroupV1, base };
}

async function findScopes(
  mounts: readonly Mount[],
  installation: string,
  { uid, systemdRun }: LimitHost,
): Promise<Limiter | undefined> {
  const root = mounts.find((mount) => mount.type === "cgroup2")?.path;
  if (uid === 0 || systemdRun === undefined || root === undefined) return undefined;
  try {
    await access(`/run/user/${uid}/systemd/private`);
  } catch {
    return undefined;
  }
  const manager = join(root, "user.slice", `user-${uid}.slice`, `user@${uid}.service`);
  const controllers = (await readText(join(manager, "cgroup.controllers"))).trim().split(" ");
  return openSystemdScopes({ systemdRun, controllers, installation });
}
