/**
 * Threat 32: a box that is less closed than it looks. A probe inside looks for capabilities, devices, mounts that can
 * be written or remounted, sockets and calls that escapes are made from; each finding has its control outside.
 */
import { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findSupervisor } from "../../src/drivers/runtime/bubblewrap/box-processes.ts";
import { identify, pidsInBox } from "../../src/drivers/runtime/process-tree.ts";
import { asUserArgv, isAlive, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import {
  compile,
  compilerMissing,
  emptyBox,
  type Ground,
  inBox,
  nodeInBox,
  onEachDaemon,
  shellInBox,
} from "./attack.ts";

const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

/** Of the host's processes, those that run in this box. */
async function hostPids({ daemon }: Ground, box: string): Promise<readonly number[]> {
  const { pid } = await daemon.client.getBox(box);
  const first = pid === undefined ? undefined : await identify(pid);
  return first === undefined ? [] : pidsInBox(first);
}

const statusField = (pid: number, field: string): string[] =>
  new RegExp(`^${field}:[ \\t]*(.*?)[ \\t]*$`, "m")
    .exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    ?.split(/\s+/) ?? [];

const cases = (ground: Ground): void => {
  it("has no capability, no way to gain one, and a filter on every process", async () => {
    const { daemon } = ground;
    const { stdout } = await shellInBox(
      daemon,
      "probe-one",
      'for p in /proc/[0-9]*; do grep -E "^(Cap|NoNewPrivs|Seccomp:)" $p/status; done',
    );
    const lines = stdout.trim().split("\n");
    // The control: boxd, its parent and this shell at least, with seven lines each.
    expect(lines.length).toBeGreaterThanOrEqual(3 * 7);
    expect([...new Set(lines)].toSorted()).toEqual(
      [
        ...["CapAmb", "CapBnd", "CapEff", "CapInh", "CapPrm"].map((name) => `${name}:\t0000000000000000`),
        "NoNewPrivs:\t1",
        "Seccomp:\t2",
      ].toSorted(),
    );
    // The same, seen from the host, where the box cannot have forged it.
    for (const pid of await hostPids(ground, "probe-one")) {
      expect(statusField(pid, "CapBnd"), `process ${pid}`).toEqual(["0000000000000000"]);
      expect(statusField(pid, "Seccomp"), `process ${pid}`).toEqual(["2"]);
    }
  });

  it("gains nothing from setuid programs", async () => {
    const { daemon } = ground;
    const { stdout: found } = await shellInBox(
      daemon,
      "probe-one",
      "find /usr/bin /usr/sbin -xdev -perm -4000 -type f 2>/dev/null; awk '$4 !~ /nosuid/ { print \"suid\", $2 }' /proc/mounts",
    );
    // Control: the host's setuid programs are in view, on mounts of which none honours the bit.
    expect(found).toContain("/usr/");
    expect(found).not.toContain("suid /");
    const { stdout } = await shellInBox(
      daemon,
      "probe-one",
      "cp /usr/bin/id ./id && chmod 4755 ./id && ./id -u; su -c 'id -u' 2>&1; id -u",
    );
    expect(stdout.split("\n")).not.toContain("0");
    expect(stdout).toMatch(/1000\s*$/);
  });

  it("sees a short list of devices, and can make none", async () => {
    const { stdout } = await shellInBox(
      ground.daemon,
      "probe-one",
      "find /dev ! -type d ! -type l | sort; find / -xdev -path /dev -prune -o \\( -type b -o -type c \\) -print 2>/dev/null",
    );
    const devices = stdout
      .trim()
      .split("\n")
      .filter((path) => !/^\/dev\/pts\/\d+$/.test(path));
    expect(devices).toEqual(
      ["full", "null", "pts/ptmx", "random", "tty", "urandom", "zero"].map((name) => `/dev/${name}`),
    );
  });

  it("can write to its own places and to nothing else of the host's", async () => {
    const { daemon } = ground;
    const { stdout } = await shellInBox(
      daemon,
      "probe-one",
      `awk '{ print $2 }' /proc/mounts | sort -u | while read m; do
         if [ -d "$m" ]; then (touch "$m/.probe" && rm "$m/.probe") 2>/dev/null && echo "$m"; fi; done`,
    );
    // In memory, and for the box's own user alone: what it holds itself.
    const held = "/run/secrets";
    const own = [
      "/dev/shm",
      "/home/agent",
      "/run",
      held,
      "/tmp",
      "/var/lib",
      "/var/log",
      "/var/tmp",
      "/workspace",
    ];
    expect(stdout.trim().split("\n")).toEqual(own);
    const { stdout: rest } = await shellInBox(
      daemon,
      "probe-one",
      "ls -d /sys /home/* /root /srv /mnt /media /var/run/docker.sock /run/docker.sock /run/agentbox* /run/s* 2>/dev/null; readlink /var/run; find /run ! -type d ! -path '/run/agentbox/*'",
    );
    expect(rest.trim().split("\n")).toEqual(["/home/agent", "/run/agentbox", held, "/run"]);
  });

  it("turns no switch of the kernel, not even of its own namespaces", async () => {
    const { daemon } = ground;
    const { stdout, stderr } = await shellInBox(
      daemon,
      "probe-one",
      `cat /proc/sys/net/ipv4/ip_unprivileged_port_start
       for f in $(find /proc/sys -type f 2>/dev/null); do [ -w "$f" ] && echo "writable $f"; done
       find /proc -maxdepth 1 -type f -writable ! -name keys ! -name timer_list ! -name kcore
       for f in sys/kernel/core_pattern sys/kernel/msgmax sys/kernel/pid_max sys/vm/drop_caches sysrq-trigger; do
         if echo 1 > /proc/$f; then echo "written $f"; fi; done`,
    );
    // Control: the switches are readable, and the one the box needs has been turned for it.
    expect(stdout).toBe("0\n");
    expect(stderr).toMatch(/Read-only file system|Permission denied/);
  });

  it("is refused every call that escapes are made from", async (ctx) => {
    const missing = compilerMissing();
    if (missing) ctx.skip(missing);
    const { daemon } = ground;
    const program = await compile(join(import.meta.dirname, "calls.c"));
    // SECURITY: the control runs as an ordinary user, so that it cannot change the host.
    const prefix = process.getuid?.() === 0 ? asUserArgv(ordinaryUser) : [];
    const outside = JSON.parse((await runProgram([...prefix, program])).stdout) as Record<string, number>;
    expect((await daemon.cli(["cp", program, "probe-one:/workspace/calls"])).code).toBe(0);
    const { stdout } = await inBox(daemon, "probe-one", ["/workspace/calls"]);
    const inside = JSON.parse(stdout) as Record<string, number>;

    // Controls: the program runs in both places, and outside the kernel does what it refuses in the box.
    expect(inside).toMatchObject({ fork: 0, winsize: 0 });
    expect(outside).toMatchObject({
      fork: 0,
      winsize: 0,
      unshare_user: 0,
      clone_user: 0,
      keyctl: 0,
      add_key: 0,
    });
    expect(inside).toMatchObject({ clone3: ENOSYS, af_alg: EAFNOSUPPORT });
    const allowed = ["fork", "winsize", "clone3", "af_alg"];
    const others = ["setuid", "drop_seccomp", "allow_privileges"];
    for (const name of others) expect(inside[name], name).not.toBe(0);
    const refused = Object.keys(inside).filter((name) => ![...allowed, ...others].includes(name));
    expect(refused.length).toBeGreaterThan(30);
    for (const name of refused) expect(inside[name], name).toBe(EPERM);
  });

  it("shows no process of the host, and lets none be signalled", async () => {
    const { daemon } = ground;
    const seen = await nodeInBox<{ pids: number[]; killed: string; own: string }>(
      daemon,
      "probe-one",
      `const kill = (pid) => { try { process.kill(pid, 0); return "reached"; } catch (error) { return error.code; } };
       console.log(JSON.stringify({ pids: require("node:fs").readdirSync("/proc").filter((n) => /^\\d+$/.test(n)).map(Number),
         killed: kill(${daemon.pid}), own: kill(process.pid) }));`,
    );
    expect(seen.own).toBe("reached");
    expect(seen.killed).toBe("ESRCH");
    expect(seen.pids).toContain(1);
    expect(seen.pids.length).toBeLessThan(10);
    expect(isAlive(daemon.pid)).toBe(true);
  });

  it("is nobody's root on the host, and a stranger to the next box", async () => {
    const { daemon, isRootDaemon } = ground;
    const users: string[][] = [];
    for (const box of ["probe-one", "probe-two"]) {
      const pids = await hostPids(ground, box);
      // The control: the box's processes are found at all, boxd among them.
      expect(pids.length).toBeGreaterThanOrEqual(2);
      const uids = [...new Set(pids.flatMap((pid) => statusField(pid, "Uid")))];
      expect(uids).not.toContain("0");
      if (isRootDaemon) for (const pid of pids) expect(statusField(pid, "Groups")).toEqual([""]);
      users.push(uids);
    }
    if (isRootDaemon) {
      expect(users.map((uids) => uids.length)).toEqual([1, 1]);
      expect(users[0]).not.toEqual(users[1]);
    }

    const { pid } = await daemon.client.getBox("probe-two");
    const neighbour = await findSupervisor((await identify(pid!))!);
    const own = await hostPids(ground, "probe-one");
    const spaces = (from: number) =>
      Object.fromEntries(
        ["user", "pid", "mnt", "net", "ipc", "uts", "cgroup"].map((name) => [name, namespaceOf(from, name)]),
      );
    const [mine, theirs, host] = [spaces(own[0]!), spaces(neighbour!), spaces(process.pid)];
    for (const name of Object.keys(mine)) {
      expect(mine[name], name).not.toBe(theirs[name]);
      expect(mine[name], name).not.toBe(host[name]);
    }
    // One box neither sees nor signals the other: to it, the number means nothing.
    const answer = await nodeInBox<string>(
      daemon,
      "probe-one",
      `try { process.kill(${neighbour}, 9); console.log('"reached"'); } catch (error) { console.log(JSON.stringify(error.code)); }`,
    );
    expect(answer).toBe("ESRCH");
    expect((await inBox(daemon, "probe-two", ["true"])).code).toBe(0);
    const { stdout } = await shellInBox(
      daemon,
      "probe-one",
      "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ls /tmp",
    );
    expect(stdout).not.toContain("probe-two");
  });

  it("reads no file of the host's, whoever owns it", async () => {
    const { daemon } = ground;
    const directory = mkdtempSync("/tmp/abx-canary-");
    const path = join(directory, "canary");
    writeFileSync(path, "canary", { mode: 0o644 });
    try {
      expect(readFileSync(path, "utf8")).toBe("canary");
      for (const target of [
        path,
        `/proc/1/root${path}`,
        "/etc/shadow",
        "/root",
        daemon.home,
        daemon.scratch,
      ]) {
        const { code, stdout } = await inBox(daemon, "probe-one", ["ls", "-d", target]);
        expect({ target, code, stdout }).toEqual({ target, code: 2, stdout: "" });
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
};

function namespaceOf(pid: number, name: string): string {
  return readlinkSync(`/proc/${pid}/ns/${name}`);
}

onEachDaemon("the probe", cases, {
  prepare: async (daemon) => {
    await emptyBox(daemon, "probe-one");
    await emptyBox(daemon, "probe-two");
  },
});
