/**
 * Threat 32 in containers: a probe inside boxes of each engine runtime looks for capabilities, devices, places that can
 * be written, sockets, switches of the kernel and calls that escapes are made from; the engine is asked for the same.
 */
import { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
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
/** The devices that every engine puts into /dev; none of them leads to hardware. */
const harmless = ["console", "full", "null", "ptmx", "pts/ptmx", "random", "tty", "urandom", "zero"];
/** gVisor's own, for which its kernel wants capabilities that no box has. */
const gvisorsOwn = ["fuse", "net/tun"];

/** The calls of a box to gVisor's kernel, which is the box's alone; no such call reaches the host's. */
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

const runtimes: readonly { runtime: string; engine: EngineKind; why: string | undefined }[] = [
  { runtime: "docker", engine: "docker", why: engineUnavailable("docker") },
  { runtime: "docker", engine: "podman-rootless", why: engineUnavailable("podman-rootless") },
  { runtime: "gvisor", engine: "docker", why: gvisorUnavailable() },
];

describe.each(runtimes)("the probe in $runtime on $engine", ({ runtime, engine: kind, why }) => {
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
    await emptyBox(daemon, "beside", { runtime: { name: runtime } });
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
    const own = [
      "/dev/mqueue",
      "/dev/shm",
      "/home/agent",
      "/run",
      "/run/secrets",
      "/tmp",
      "/workspace",
    ].concat(["/var/lib", "/var/log", "/var/tmp"]);
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
    const { HostConfig, Config, State } = await viewOf(engine, "probed");
    expect(HostConfig).toMatchObject({ Privileged: false, ReadonlyRootfs: true, NetworkMode: "none" });
    expect(HostConfig.CapAdd ?? []).toEqual([]);
    expect(HostConfig.Devices ?? []).toEqual([]);
    expect([HostConfig.PidMode, HostConfig.UTSMode]).not.toContain("host");
    expect(Config.User).not.toMatch(/^(0|root)?(:|$)/);
    expect(Number(uidOf(State.Pid))).toBeGreaterThanOrEqual(1000);
  });

  itUnless(why)("gains nothing from a program that is root's for whoever starts it", async () => {
    // SECURITY: the control waits for a password that never comes, and is ended.
    const ordinary = asUserArgv(ordinaryUser).filter((argument) => argument !== "--no-new-privs");
    const outside = await runProgram([...ordinary, process.execPath, "-e", startSetuid]);
    const inside = await nodeInBox<SetuidAnswer>(there(), "probed", startSetuid);
    expect((JSON.parse(outside.stdout) as SetuidAnswer).effective).toBe(0);
    expect(inside.own).toBeGreaterThanOrEqual(1000);
    expect(inside.effective).toBe(inside.own);
  });

  itUnless(why)("is a stranger to the next box and to the host's processes", async () => {
    const [mine, theirs] = [await viewOf(engine, "probed"), await viewOf(engine, "beside")];
    const pids = [mine.State.Pid, theirs.State.Pid, process.pid];
    const { guarantees } = (await there().client.getBox("probed")).box.isolation;
    const isEnforced = (name: string) => guarantees.some((one) => one.name === name && one.isEnforced);
    const names = ["mnt", "net", "ipc", "uts"];
    // gVisor's kernel is a process beside the host's, in a user namespace of its own; the box's are known to it alone.
    names.push(ownKernel ? "user" : "pid");
    if (isEnforced("user namespace")) names.push("user");
    if (isEnforced("cgroup namespace") && !ownKernel) names.push("cgroup");
    for (const name of names)
      expect(new Set(pids.map((pid) => readlinkSync(`/proc/${pid}/ns/${name}`))).size, name).toBe(3);
    // A root daemon's boxes have users of their own; a person's boxes are that person's, and gVisor runs as the user
    // `nobody`.
    if (ownKernel) expect(uidOf(mine.State.Pid)).toBe("65534");
    else if (kind === "docker") expect(uidOf(mine.State.Pid)).not.toBe(uidOf(theirs.State.Pid));
    const answers = await nodeInBox<string[]>(
      there(),
      "probed",
      `const kill = (pid) => { try { process.kill(pid, 9); return "reached"; } catch (error) { return error.code; } };
       const child = require("node:child_process").spawn("sleep", ["60"]);
       console.log(JSON.stringify([child.pid, ${theirs.State.Pid}, ${there().pid}].map(kill)));`,
    );
    // The control: what is its own it ends.
    expect(answers).toEqual(["reached", "ESRCH", "ESRCH"]);
    expect((await inBox(there(), "beside", ["true"])).code).toBe(0);
  });

  itUnless(why)("reads no file of the host's, by any way to its root", async () => {
    const directory = mkdtempSync("/tmp/abx-canary-");
    const path = join(directory, "canary");
    writeFileSync(path, "canary", { mode: 0o644 });
    try {
      const read = (file: string) =>
        nodeInBox<string>(
          there(),
          "probed",
          `let text; try { text = require("node:fs").readFileSync(${JSON.stringify(file)}, "utf8"); } catch (error) { text = error.code; } console.log(JSON.stringify(text));`,
        );
      expect(readFileSync(path, "utf8")).toBe("canary");
      expect(await read("/etc/hostname")).toBe("probed\n");
      const { home, scratch } = there();
      for (const file of [path, `/proc/self/root/..${path}`, home, scratch])
        expect(await read(file), file).toBe("ENOENT");
      // gVisor lets no one through there, to any server.
      expect(await read(`/proc/1/root${path}`)).toMatch(ownKernel ? /^EACCES$/ : /^ENOENT$/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

/** \`passwd\` runs as root for every user, and waits; its rights are read while it does. */
const startSetuid = `
const child = require("node:child_process").spawn("passwd", { stdio: ["pipe", "ignore", "ignore"] });
const read = () => {
  const status = require("node:fs").readFileSync("/proc/" + child.pid + "/status", "utf8");
  if (!/^Name:\\tpasswd$/m.test(status)) return setTimeout(read, 20);
  const [, own, effective] = /^Uid:\\t(\\d+)\\t(\\d+)/m.exec(status);
  console.log(JSON.stringify({ own: Number(own), effective: Number(effective) }));
  child.stdin.destroy();
  child.kill("SIGKILL");
};
child.on("spawn", read);`;

interface SetuidAnswer {
  readonly own: number;
  readonly effective: number;
}

const uidOf = (pid: number): string | undefined =>
  /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];

async function viewOf({ socket }: StartedEngine, box: string): Promise<EngineView> {
  const { text: list } = await engineRequest(socket, "GET", "/v1.41/containers/json");
  const found = JSON.parse(list) as { Id: string; Labels: Record<string, string> }[];
  const { Id } = found.find(({ Labels }) => Labels["agentbox.box"] === box)!;
  return JSON.parse((await engineRequest(socket, "GET", `/v1.41/containers/${Id}/json`)).text) as EngineView;
}

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
