import { formatBytes } from "../base/bytes.ts";
import { manifestDefaults } from "../manifest/defaults.ts";
import type { DoctorReport, RuntimeReport } from "../contract/api/schemas/daemon.ts";
import { findEscapes } from "../core/host-check/known-escapes.ts";
import { run } from "../host/run.ts";
import type { BoxStorage } from "../ports/storage.ts";
import { examineCalls } from "./call-filters.ts";
import { readInstalledVersions } from "./installed-versions.ts";
import type { RuntimeSet } from "./runtimes.ts";

/** Programs of the host that the daemon calls, and the Debian package each comes from. */
const programs = [
  { name: "git", argv: ["git", "--version"], packages: ["git"] },
  { name: "setpriv", argv: ["setpriv", "--version"], packages: ["util-linux"] },
  { name: "flock", argv: ["flock", "--version"], packages: ["util-linux"] },
] as const;

export async function examineHost(
  runtimes: RuntimeSet,
  storage: BoxStorage,
  home: string,
): Promise<DoctorReport> {
  const [reports, found, freeBytes, installed] = await Promise.all([
    Promise.all(runtimes.offered.map((name) => examineRuntime(runtimes, storage, name))),
    Promise.all(programs.map(examineProgram)),
    storage.freeBytes(),
    readInstalledVersions(),
  ]);
  return {
    runtimes: reports,
    programs: found,
    escapes: [...findEscapes(installed), ...examineCalls()],
    home: { path: home, freeBytes, detail: `${formatBytes(freeBytes)} free at ${home}` },
  };
}

async function examineRuntime(
  runtimes: RuntimeSet,
  storage: BoxStorage,
  name: string,
): Promise<RuntimeReport> {
  const { module, probe } = await runtimes.probe(name);
  const { description } = module;
  const isDefault = name === manifestDefaults.runtime.name;
  if (probe.status !== "ready") {
    const fix = { hint: probe.fix.hint, packages: [...probe.fix.packages] };
    return { name, description, isDefault, status: probe.status, detail: probe.reason, fix, limits: [] };
  }
  const everything = { cpus: 1, memoryBytes: 2 ** 30, pids: 1024, required: [] };
  const { guarantees } = (await runtimes.get(name)).isolation({ resources: everything });
  const disk = await storage.diskLimit();
  const limits = [
    ...guarantees.filter((guarantee) => guarantee.name.endsWith(" limit")),
    { name: "disk limit", isEnforced: disk.canEnforce, by: disk.by },
  ];
  return { name, description, isDefault, status: "ready", detail: probe.detail, limits };
}

async function examineProgram({
  name,
  argv,
  packages,
}: (typeof programs)[number]): Promise<DoctorReport["programs"][number]> {
  const found = await run(argv).catch(() => undefined);
  return found?.code === 0
    ? { name, status: "ready", detail: found.stdout.trim().split("\n")[0] ?? "", packages: [...packages] }
    : { name, status: "absent", detail: "not found", packages: [...packages] };
}
