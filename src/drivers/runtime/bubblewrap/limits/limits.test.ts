import { describe, expect, it } from "vitest";
import { isolationOf, refuseUnenforceable } from "../guarantees.ts";
import { parseMounts } from "./detect.ts";
import { cgroupV1, cgroupV2 } from "./group-version.ts";
import { nowhere } from "./limiter.ts";
import { openRlimits, withProcessLimit } from "./rlimits.ts";
import { openSystemdScopes, scopeProperties } from "./systemd-scope.ts";

const all = { cpus: 1.5, memoryBytes: 1024, pids: 64, required: [] };
const none = { required: [] };
const values = (version: typeof cgroupV1): string[] =>
  version.settings(all).map(({ file, value }) => `${file}=${value}`);

describe("limits", () => {
  it("are these files in each generation of control groups", () => {
    expect(values(cgroupV1)).toEqual([
      "cpu.cfs_period_us=100000",
      "cpu.cfs_quota_us=150000",
      "memory.limit_in_bytes=1024",
      "memory.memsw.limit_in_bytes=1024",
      "memory.swappiness=0",
      "pids.max=64",
    ]);
    expect(values(cgroupV2)).toEqual([
      "cpu.max=150000 100000",
      "memory.max=1024",
      "memory.swap.max=0",
      "pids.max=64",
    ]);
    for (const version of [cgroupV1, cgroupV2]) expect(version.settings(none)).toEqual([]);
  });

  it("never ask for less processor time than the kernel takes", () => {
    expect(cgroupV2.settings({ cpus: 0.001, required: [] })[0]?.value).toBe("1000 100000");
  });

  it("read whether a group is frozen", () => {
    expect(cgroupV1.freeze.isFrozen("FREEZING\n")).toBe(false);
    expect(cgroupV1.freeze.isFrozen("FROZEN\n")).toBe(true);
    expect(cgroupV2.freeze.isFrozen("populated 1\nfrozen 0\n")).toBe(false);
    expect(cgroupV2.freeze.isFrozen("populated 1\nfrozen 1\n")).toBe(true);
  });

  it("become a systemd scope for an ordinary user", async () => {
    const scopes = openSystemdScopes({
      systemdRun: "/usr/bin/systemd-run",
      controllers: ["memory", "pids"],
      installation: "0a1b2c3d",
    });
    expect(scopes.can).toMatchObject({
      cpus: { isEnforced: false },
      memory: { isEnforced: true },
      pids: { isEnforced: true },
    });
    const { aroundChain } = await scopes.prepare("team-app", all);
    expect(aroundChain).toContain("--unit=agentbox-0a1b2c3d-team-app");
    expect(aroundChain.at(-1)).toBe("--");
    expect(scopeProperties(all)).toEqual([
      "-p",
      "CPUQuota=150%",
      "-p",
      "MemoryMax=1024",
      "-p",
      "MemorySwapMax=0",
      "-p",
      "TasksMax=64",
    ]);
  });

  it("fall back to a resource limit for processes only", async () => {
    const rlimits = openRlimits("/usr/bin/prlimit");
    expect(rlimits.can).toMatchObject({
      cpus: { isEnforced: false },
      memory: { isEnforced: false },
      pids: { isEnforced: true },
    });
    expect((await rlimits.prepare("x", all)).aroundBox).toEqual(["/usr/bin/prlimit", "--nproc=64:64"]);
    expect(await rlimits.prepare("x", none)).toEqual(nowhere);
    expect(openRlimits(undefined).can.pids.isEnforced).toBe(false);
    const scopes = openSystemdScopes({ systemdRun: "/r", controllers: ["memory"], installation: "i" });
    const both = withProcessLimit(scopes, rlimits);
    expect(both.can).toMatchObject({ memory: { by: "systemd scope" }, pids: { isEnforced: true } });
    expect((await both.prepare("x", all)).aroundBox).toEqual(["/usr/bin/prlimit", "--nproc=64:64"]);
  });

  it("are refused when asked for by name and not to be had, and shown otherwise", () => {
    const { can } = openRlimits("/usr/bin/prlimit");
    expect(() => refuseUnenforceable({ ...all, required: ["pids"] }, can)).not.toThrow();
    expect(() => refuseUnenforceable({ ...all, required: ["memory"] }, can)).toThrowError(
      expect.objectContaining({ code: "policy.unenforceable" }),
    );
    const shown = Object.fromEntries(
      isolationOf(all, can).guarantees.map(({ name, isEnforced }) => [name, isEnforced]),
    );
    expect(shown).toMatchObject({
      "cpu limit": false,
      "memory limit": false,
      "process limit": true,
      network: true,
    });
    const unlimited = isolationOf(none, can).guarantees.find(({ name }) => name === "process limit");
    expect(unlimited).toMatchObject({ isEnforced: false, by: "no limit was asked for" });
  });
});

it("reads the mount table", () => {
  expect(parseMounts("cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\nbroken\n")).toEqual([
    { path: "/sys/fs/cgroup/pids", type: "cgroup", options: ["rw", "pids"] },
  ]);
});
