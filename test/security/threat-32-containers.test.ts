/**
 * Threat 32 in containers: a probe inside boxes of each engine runtime looks for capabilities, devices, places that can
 * be written, sockets, switches of the kernel and calls that escapes are made from; the engine is asked for the same.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { engineRequest } from "../support/engine-request.ts";
import {
  type EngineKind,
  engineUnavailable,
  gvisorUnavailable,
  rootlessUser,
  startEngine,
  type StartedEngine,
} from "../support/engines.ts";
import { asUserArgv, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { itUnless } from "../support/skipping.ts";
import { compile, compilerMissing, emptyBox, inBox, nodeInBox } from "./attack.ts";

interface Findings {
  readonly statuses: readonly Record<string, string>[];
  readonly devices: readonly string[];
  readonly writable: readonly string[];
  readonly switches: readonly string[];
  readonly sockets: readonly string[];
  readonly reads: Record<string, string>;
}

/** Node alone, because not every boundary runs the host's other programs. */
const probe = `
const fs = require("node:fs"), path = require("node:path");
const attempt = (action) => { try { return action(); } catch (error) { return error.code; } };
const kinds = (dir, wanted, depth) => {
  const names = attempt(() => fs.readdirSync(dir));
  return Array.isArray(names) ? names.flatMap((name) => {
    const full = path.join(dir, name), found = attempt(() => fs.lstatSync(full));
    if (typeof found === "string") return [];
    if (wanted(found)) return [full];
    return found.isDirectory() && depth > 0 ? kinds(full, wanted, depth - 1) : [];
  }) : [];
};
const status = (pid) => Object.fromEntries(fs.readFileSync("/proc/" + pid + "/status", "utf8").split("\\n").map((line) => line.split(":\\t")));
const mounts = [...new Set(fs.readFileSync("/proc/mounts", "utf8").trim().split("\\n").map((line) => line.split(" ")[1]))];
const canWrite = (dir) => attempt(() => { fs.writeFileSync(dir + "/.probe", ""); fs.unlinkSync(dir + "/.probe"); return true; }) === true;
// By name, too: where the link is, a box of a root daemon can go and not look.
const link = ["/run/agentbox/link.sock"].filter((name) => fs.lstatSync(name).isSocket());
const switches = ["kernel/core_pattern", "kernel/msgmax", "kernel/pid_max", "vm/drop_caches", "net/ipv4/ip_forward"].map((name) => "/proc/sys/" + name);
console.log(JSON.stringify({
  statuses: fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map(status),
  devices: kinds("/dev", (entry) => entry.isCharacterDevice() || entry.isBlockDevice(), 2).filter((name) => !/^\\/dev\\/pts\\/\\d+$/.test(name)),
  writable: mounts.filter((dir) => !dir.startsWith("/proc") && canWrite(dir)).sort(),
  switches: [...switches, "/proc/sysrq-trigger"].filter((file) => attempt(() => { fs.writeFileSync(file, "1"); return true; }) === true),
  sockets: [...new Set(["/run", "/var", "/tmp", "/home", "/opt"].flatMap((dir) => kinds(dir, (entry) => entry.isSocket(), 3)).concat(link))],
  reads: Object.fromEntries(["/etc/shadow", "/root", "/var/run/docker.sock", "/etc/passwd"].map((file) => [file, String(attempt(() => (fs.accessSync(file, fs.constants.R_OK), "ok")))])),
}));`;

const noCapability = "0000000000000000";
/** What every engine puts into /dev; none of it leads to hardware. */
const harmless = ["console", "full", "null", "ptmx", "pts/ptmx", "random", "tty", "urandom", "zero"];
/** gVisor's own, for which its kernel wants capabilities that no box has. */
const gvisorsOwn = ["fuse", "net/tun"];

/** What gVisor's kernel lets a box do to that kernel, which is the box's alone; no such call reaches the host's. */
const ofItsOwnKernel = [
  "unshare_user",
  "unshare_net",
  "unshare_mount",
  "clone_user",
  "keyctl",
  "add_key",
  "drop_seccomp",
  "allow_privileges",
  "trace_first",
  "trace_boxd",
  "process_vm_readv",
  "io_uring_setup",
];

const places: readonly { runtime: string; engine: EngineKind; why: string | undefined }[] = [
  { runtime: "docker", engine: "docker", why: engineUnavailable("docker") },
  { runtime: "docker", engine: "podman-rootless", why: engineUnavailable("podman-rootless") },
  { runtime: "gvisor", engine: "docker", why: gvisorUnavailable() },
];

describe.each(places)("the probe in $runtime on $engine", ({ runtime, engine: kind, why }) => {
  let engine: StartedEngine;
  let daemon: TestDaemon | undefined;
  let findings: Findings;
  const ownKernel = runtime === "gvisor";
  const there = (): TestDaemon => {
    if (daemon === undefined) throw new Error("There is no daemon.");
    return daemon;
  };

  beforeAll(async () => {
    if (why !== undefined) return;
    engine = await startEngine(kind);
    const user = kind === "podman-rootless" ? { user: rootlessUser } : {};
    daemon = await startDaemon({ ...user, env: { AGENTBOX_ENGINE: `unix://${engine.socket}` } });
    await emptyBox(daemon, "probed", { runtime: { name: runtime } });
    findings = await nodeInBox<Findings>(daemon, "probed", probe);
  }, 90_000);
  afterAll(() => daemon?.[Symbol.asyncDispose](), 60_000);

  itUnless(why)("finds no capability on any process, and no way to gain one", () => {
    // The control: boxd, its parent and the probe.
    expect(findings.statuses.length).toBeGreaterThanOrEqual(3);
    for (const status of findings.statuses) {
      expect(status).toMatchObject({ CapEff: noCapability, CapPrm: noCapability, CapBnd: noCapability });
      // A kernel of the box's own stands where the filter would; `isolation` says so.
      if (!ownKernel) expect(status).toMatchObject({ NoNewPrivs: "1", Seccomp: "2" });
    }
  });

  itUnless(why)("finds harmless devices, its own places to write, and no switch to turn", () => {
    const known = [...harmless, ...(ownKernel ? gvisorsOwn : [])].map((name) => `/dev/${name}`);
    expect(findings.devices.filter((device) => !known.includes(device))).toEqual([]);
    expect(findings.devices).toContain("/dev/null");
    const own = ["/dev/mqueue", "/dev/shm", "/home/agent", "/run/secrets", "/tmp", "/var/tmp", "/workspace"];
    expect(findings.writable.filter((path) => !own.includes(path))).toEqual([]);
    expect(findings.writable).toContain("/workspace");
    expect(findings.switches).toEqual([]);
  });

  itUnless(why)("finds one socket, which is the link, and no file of the host's", () => {
    expect(findings.sockets).toEqual(["/run/agentbox/link.sock"]);
    const { "/etc/passwd": control, ...hosts } = findings.reads;
    expect(control).toBe("ok");
    expect([...new Set(Object.values(hosts))]).toEqual(["ENOENT"]);
  });

  itUnless(why ?? compilerMissing())("is refused the calls that escapes are made from", async () => {
    const program = await compile(join(import.meta.dirname, "calls.c"));
    // SECURITY: the control runs as an ordinary user, so that it cannot change the host.
    const outside = JSON.parse((await runProgram([...asUserArgv(ordinaryUser), program])).stdout) as Answers;
    expect((await there().cli(["cp", program, "probed:/workspace/calls"])).code).toBe(0);
    const inside = JSON.parse((await inBox(there(), "probed", ["/workspace/calls"])).stdout) as Answers;
    expect(outside).toMatchObject({ fork: 0, unshare_user: 0, keyctl: 0 });
    expect(inside).toMatchObject({ fork: 0 });
    const allowed = ["fork", "winsize", ...(ownKernel ? ofItsOwnKernel : [])];
    const refused = Object.keys(inside).filter((name) => !allowed.includes(name));
    expect(refused.length).toBeGreaterThan(ownKernel ? 20 : 30);
    for (const name of refused) expect(inside[name], name).not.toBe(0);
  });

  itUnless(why)("is what the engine says it is, and nobody's root on the host", async () => {
    const { text: list } = await engineRequest(engine.socket, "GET", "/v1.41/containers/json");
    const found = JSON.parse(list) as { Id: string; Labels: Record<string, string> }[];
    const { Id } = found.find(({ Labels }) => Labels["agentbox.box"] === "probed")!;
    const { text } = await engineRequest(engine.socket, "GET", `/v1.41/containers/${Id}/json`);
    const { HostConfig, Config, State } = JSON.parse(text) as EngineView;
    expect(HostConfig).toMatchObject({ Privileged: false, ReadonlyRootfs: true, NetworkMode: "none" });
    expect(HostConfig.CapAdd ?? []).toEqual([]);
    expect(HostConfig.Devices ?? []).toEqual([]);
    expect([HostConfig.PidMode, HostConfig.UTSMode]).not.toContain("host");
    expect(Config.User).not.toMatch(/^(0|root)?(:|$)/);
    const owner = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${State.Pid}/status`, "utf8"))?.[1];
    expect(Number(owner)).toBeGreaterThanOrEqual(1000);
  });
});

type Answers = Record<string, number>;

interface EngineView {
  readonly HostConfig: {
    readonly CapAdd: readonly string[] | null;
    readonly Devices: readonly unknown[] | null;
    readonly PidMode: string;
    readonly UTSMode: string;
  };
  readonly Config: { readonly User: string };
  readonly State: { readonly Pid: number };
}
