/** Cases that look at a box from inside: a small program takes boxd's place and writes down what it can see and do. */
import assert from "node:assert/strict";
import { access, chmod, mkdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { hostname, release } from "node:os";
import { join } from "node:path";
import { isAgentBoxError } from "../base/errors.ts";
import { boxPaths } from "../contract/box.ts";
import type { ConformanceCase } from "./conformance.ts";
import {
  hasCgroupNamespace,
  hasOwnKernel,
  hasUserNamespace,
  type RuntimeContext,
  userInside,
  waitForFile,
} from "./runtime-context.ts";

interface InsideReport {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly cwd: string;
  readonly hostname: string;
  readonly kernel: string;
  readonly env: Record<string, string>;
  readonly descriptors: Record<string, string>;
  readonly status: Record<string, string>;
  readonly namespaces: Record<string, string>;
  readonly interfaces: readonly string[];
  readonly processes: readonly number[];
  readonly root: readonly string[];
  /** The content of /sys, where it exists. */
  readonly hardware: readonly string[];
  readonly etc: Record<string, string>;
  /** Path → "ok" or the error code, for an attempt to make or write a file. */
  readonly writes: Record<string, string>;
  readonly reads: Record<string, string>;
  readonly lowPort: string;
  readonly outside: string;
}

/** Runs in the box. Takes no module but Node's own, and no path but those it is given. */
function inspect(paths: { writes: string[]; reads: string[] }): string {
  return `
const fs = require("node:fs"), os = require("node:os"), net = require("node:net"), path = require("node:path");
const paths = ${JSON.stringify(paths)};
const attempt = (action) => { try { action(); return "ok"; } catch (error) { return error.code || String(error); } };
const links = (dir) => Object.fromEntries(fs.readdirSync(dir).map((name) => {
  try { return [name, fs.readlinkSync(path.join(dir, name))]; } catch (error) { return [name, error.code]; }
}));
const listen = (port) => new Promise((resolve) => {
  const server = net.createServer();
  server.on("error", (error) => resolve(error.code));
  server.listen(port, "127.0.0.1", () => server.close(() => resolve("ok")));
});
const dial = (host, port) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: 3000 });
  socket.on("connect", () => resolve("ok")).on("error", (error) => resolve(error.code)).on("timeout", () => resolve("timeout"));
});
(async () => {
  const report = {
    uid: process.getuid(), gid: process.getgid(), groups: process.getgroups(), cwd: process.cwd(), hostname: os.hostname(), kernel: os.release(),
    env: { ...process.env },
    descriptors: links("/proc/self/fd"),
    status: Object.fromEntries(fs.readFileSync("/proc/self/status", "utf8").split("\\n").map((line) => line.split(":\\t"))),
    namespaces: links("/proc/self/ns"),
    interfaces: fs.readFileSync("/proc/net/dev", "utf8").split("\\n").slice(2).map((line) => line.split(":")[0].trim()).filter(Boolean),
    processes: fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).map(Number),
    root: fs.readdirSync("/"),
    hardware: fs.existsSync("/sys") ? fs.readdirSync("/sys") : [],
    etc: Object.fromEntries(["passwd", "hosts", "resolv.conf", "hostname"].map((name) => [name, fs.readFileSync("/etc/" + name, "utf8")])),
    writes: Object.fromEntries(paths.writes.map((file) => [file, attempt(() => fs.writeFileSync(file, "x", { flag: "a" }))])),
    reads: Object.fromEntries(paths.reads.map((file) => [file, attempt(() => fs.readFileSync(file))])),
    lowPort: await listen(53),
    outside: await dial("192.0.2.1", 80),
  };
  fs.writeFileSync("/workspace/report.tmp", JSON.stringify(report));
  fs.renameSync("/workspace/report.tmp", "/workspace/report");
  setInterval(() => undefined, 1000);
})();
`;
}

interface Looked {
  readonly report: InsideReport;
  readonly box: Awaited<ReturnType<RuntimeContext["makeBox"]>>;
}

async function lookInside(
  { runtime, makeBox }: RuntimeContext,
  options: { writes?: string[]; reads?: string[]; mounts?: Looked["box"]["mounts"] } = {},
): Promise<Looked> {
  const { writes = [], reads = [], mounts = [] } = options;
  const box = await makeBox("inside", { script: inspect({ writes, reads }), mounts });
  await runtime.start(box);
  const report = JSON.parse(await waitForFile(box, "report")) as InsideReport;
  return { report, box };
}

const inside = (
  name: string,
  run: (context: RuntimeContext) => Promise<void>,
): ConformanceCase<RuntimeContext> => ({
  name: `inside: ${name}`,
  needs: ["processes"],
  run,
});

export const insideCases: readonly ConformanceCase<RuntimeContext>[] = [
  inside("runs as the box's user, in its workspace, under its name", async (context) => {
    const { report } = await lookInside(context);
    assert.deepEqual({ uid: report.uid, gid: report.gid }, userInside(context));
    assert.equal(report.cwd, boxPaths.workspace);
    assert.equal(report.hostname, "inside");
  }),
  inside("has no capability, cannot gain one, and is under a system call filter", async (context) => {
    const { report } = await lookInside(context);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd"])
      assert.match(report.status[set]!, /^0+$/, set);
    // A kernel of the box's own stands where the filter would, and has neither ambient sets nor programs that gain.
    if (hasOwnKernel(context)) return assert.notEqual(report.kernel, release());
    assert.match(report.status["CapAmb"]!, /^0+$/);
    assert.equal(report.status["NoNewPrivs"], "1");
    assert.equal(report.status["Seccomp"], "2");
  }),
  inside("has namespaces of its own", async (context) => {
    const { report } = await lookInside(context);
    const kinds = ["pid", "mnt", "net", "ipc", "uts"];
    if (hasUserNamespace(context)) kinds.push("user");
    if (hasCgroupNamespace(context)) kinds.push("cgroup");
    for (const kind of kinds) {
      assert.notEqual(
        report.namespaces[kind],
        await readlink(`/proc/self/ns/${kind}`),
        `${kind} is the host's`,
      );
    }
  }),
  inside("has loopback and nothing else, may listen on port 53, and reaches nobody", async (context) => {
    const { report } = await lookInside(context);
    assert.deepEqual(report.interfaces, ["lo"]);
    assert.equal(report.lowPort, "ok");
    assert.equal(report.outside, hasOwnKernel(context) ? "EHOSTUNREACH" : "ENETUNREACH");
  }),
  inside("sees its own processes only", async (context) => {
    const { report } = await lookInside(context);
    assert.ok(report.processes.length <= 3, `it sees ${report.processes.length} processes`);
    assert.ok(report.processes.every((pid) => pid < 50));
  }),
  inside("inherits no environment and no descriptor", async (context) => {
    const { report } = await lookInside(context);
    const allowed = ["PATH", "HOME", "USER", "LANG", "TERM", "PWD"];
    assert.deepEqual(
      Object.keys(report.env).filter((name) => !allowed.includes(name)),
      [],
    );
    const targets = Object.values(report.descriptors);
    assert.equal(report.descriptors["0"], "/dev/null");
    assert.equal(report.descriptors["1"], "/dev/null");
    for (const [fd, target] of Object.entries(report.descriptors)) {
      if (
        Number(fd) <= 2 ||
        target === "/dev/null" ||
        target === "ENOENT" ||
        target.startsWith("anon_inode:")
      )
        continue;
      // Node makes pipes to talk to itself and has both ends; an inherited one has only one end in here.
      const isOwnPipe = target.startsWith("pipe:") && targets.filter((other) => other === target).length >= 2;
      assert.ok(isOwnPipe, `descriptor ${fd} is ${target}`);
    }
  }),
  inside("has a short root without the host's directories", async (context) => {
    const { report } = await lookInside(context);
    const known = [
      "bin",
      "dev",
      "etc",
      "home",
      "lib",
      "lib32",
      "lib64",
      "libx32",
      "opt",
      "proc",
      "run",
      "sbin",
      "tmp",
      "usr",
      "var",
      "workspace",
    ];
    // Engines put a mark of their own there, and a place where the kernel's view of the hardware would be.
    const marks = [".dockerenv", "sys"];
    assert.deepEqual(
      report.root.filter((name) => !known.includes(name) && !marks.includes(name)),
      [],
    );
    assert.deepEqual(
      report.hardware.filter((name) => name !== "fs"),
      [],
    );
  }),
  inside("cannot read what the host has", async (context) => {
    const secret = join(context.boxesDir, "..", "secret");
    await writeFile(secret, "host", { mode: 0o644 });
    const hostFiles = [
      secret,
      "/etc/shadow",
      "/etc/machine-info",
      "/root/.profile",
      `/proc/${process.pid}/environ`,
    ];
    const { report } = await lookInside(context, { reads: [...hostFiles, "/etc/passwd", boxPaths.boxd] });
    assert.equal(await readFile(secret, "utf8"), "host");
    for (const path of hostFiles) assert.equal(report.reads[path], "ENOENT", path);
    for (const path of ["/etc/passwd", boxPaths.boxd]) assert.equal(report.reads[path], "ok", path);
  }),
  inside("has an /etc that does not know the host", async (context) => {
    const { report } = await lookInside(context);
    const { uid, gid } = userInside(context);
    assert.ok(report.etc["passwd"]!.includes(`\nagent:x:${uid}:${gid}:`));
    assert.equal(report.etc["passwd"]!.trim().split("\n").length, 3);
    assert.equal(report.etc["hostname"], "inside\n");
    assert.ok(hostname() === "inside" || !report.etc["hosts"]!.includes(` ${hostname()}\n`));
    assert.match(report.etc["resolv.conf"]!, /^nameserver 127\.0\.0\.1$/m);
  }),
  inside("writes into its own places and nowhere else", async (context) => {
    const own = [
      "/workspace/x",
      "/home/agent/x",
      "/tmp/x",
      "/var/tmp/x",
      "/dev/shm/x",
      "/dev/null",
      "/run/x",
      "/var/run/y",
      `${boxPaths.secrets}/x`,
    ];
    const denied = [
      "/x",
      "/usr/x",
      "/etc/x",
      "/etc/passwd",
      "/dev/x",
      "/run/agentbox/x",
      "/run/agentbox/link.sock/x",
      "/var/run/agentbox/x",
      "/opt/agentbox/x",
      boxPaths.node,
      boxPaths.boxd,
      "/proc/sys/kernel/hostname",
      "/proc/sys/kernel/core_pattern",
      "/proc/sys/net/ipv4/ip_unprivileged_port_start",
      "/proc/sysrq-trigger",
    ];
    const { report, box } = await lookInside(context, { writes: [...own, ...denied] });
    for (const path of own) assert.equal(report.writes[path], "ok", path);
    for (const path of denied) assert.notEqual(report.writes[path], "ok", path);
    assert.equal(await readFile(join(box.dirs.home, "x"), "utf8"), "x");
    await assert.rejects(access(join(box.dirs.link, "x")));
  }),
  inside("keeps what it holds at /run/secrets in memory, little of it, and for itself", async (context) => {
    const script = `const fs = require("node:fs");
    const { type, blocks, bsize } = fs.statfsSync("${boxPaths.secrets}");
    const { mode, uid } = fs.statSync("${boxPaths.secrets}");
    fs.writeFileSync("${boxPaths.secrets}/canary", "canary-of-a-secret");
    fs.writeFileSync("/workspace/looked", JSON.stringify({ type, bytes: blocks * bsize, mode: mode & 0o7777, uid }));
    setInterval(() => undefined, 1000);`;
    const box = await context.makeBox("holding", { script });
    await context.runtime.start(box);
    const tmpfsMagic = 0x01021994;
    assert.deepEqual(JSON.parse(await waitForFile(box, "looked")), {
      type: tmpfsMagic,
      bytes: 2 ** 20,
      mode: 0o700,
      uid: userInside(context).uid,
    });
  }),
  inside("gets the mounts it was given, read-only unless said otherwise", async (context) => {
    const shared = join(context.boxesDir, "..", "shared");
    await mkdir(shared, { mode: 0o777 });
    await chmod(shared, 0o777);
    await writeFile(join(shared, "given"), "x", { mode: 0o666 });
    const { report } = await lookInside(context, {
      mounts: [
        { source: shared, target: "/data/in", readOnly: true },
        { source: shared, target: "/data/out", readOnly: false },
      ],
      reads: ["/data/in/given"],
      writes: ["/data/in/new", "/data/out/new"],
    });
    assert.equal(report.reads["/data/in/given"], "ok");
    assert.equal(report.writes["/data/in/new"], "EROFS");
    assert.equal(report.writes["/data/out/new"], "ok");
  }),
  inside("is refused mounts that would open the host", async (context) => {
    const { runtime, makeBox, boxesDir } = context;
    const good = join(boxesDir, "..", "good");
    await mkdir(good);
    const server = createServer().listen(join(good, "sock"));
    const refused = [
      ["/", "/data"],
      ["/proc", "/data"],
      ["/dev/null", "/data"],
      [boxesDir, "/data"],
      [join(boxesDir, ".."), "/data"],
      [join(good, "sock"), "/data"],
      [join(good, "absent"), "/data"],
      [good, "/usr/local"],
      [good, "/etc"],
      [good, "/opt"],
      [good, "/run/agentbox/x"],
      [good, "/data/../etc"],
      [good, "data"],
      [good, "/home/agent/planted"],
    ] as const;
    const box = await makeBox("mounted");
    await symlink("/etc", join(box.dirs.home, "planted"));
    try {
      for (const [source, target] of refused) {
        const start = runtime.start({ ...box, mounts: [{ source, target, readOnly: true }] });
        await assert.rejects(
          start,
          (error) => isAgentBoxError(error, "mount.invalid"),
          `${source} → ${target}`,
        );
      }
    } finally {
      server.close();
    }
    const control = await runtime.start({
      ...box,
      mounts: [{ source: good, target: "/data", readOnly: true }],
    });
    assert.equal(control.phase, "running");
  }),
  inside(
    "our files stand in the place of the system's, read-only, and nowhere but among certificates",
    async (context) => {
      const { runtime, makeBox, boxesDir } = context;
      const source = join(boxesDir, "..", "ours.pem");
      await writeFile(source, "ours");
      // Writable by all users, so that only the mount can refuse it.
      await chmod(source, 0o666);
      // One that systems have and that is covered, one that is made, and one that may be either.
      const targets = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/ssl/agentbox/ca.pem",
        "/etc/ssl/certs/java/cacerts",
      ];
      const expected = await Promise.all(
        targets.map(async (target) => {
          const isSystems = await access(target).then(
            () => true,
            () => false,
          );
          return isSystems || target.includes("agentbox") ? "ours EROFS" : "ENOENT";
        }),
      );
      const script = `const fs = require("node:fs");
      const attempt = (action) => { try { return action(); } catch (error) { return error.code; } };
      const look = (path) => attempt(() => fs.readFileSync(path, "utf8") + " " + attempt(() => fs.writeFileSync(path, "x")));
      fs.writeFileSync("/workspace/looked", JSON.stringify(${JSON.stringify(targets)}.map(look)));
      setInterval(() => undefined, 1000);`;
      const files = targets.map((target) => ({ source, target }));
      const box = await makeBox("trusting", { script, files });
      await runtime.start(box);
      assert.deepEqual(JSON.parse(await waitForFile(box, "looked")), expected);
      assert.equal(await readFile(source, "utf8"), "ours");

      for (const target of [
        "/etc/passwd",
        "/usr/bin/git",
        "/etc/ssl",
        "/etc/ssl/../passwd",
        "/etc/sslx/y",
        "etc/ssl/x",
      ]) {
        const refused = await makeBox("doubting", { files: [{ source, target }] });
        await assert.rejects(runtime.start(refused), (error) => isAgentBoxError(error, "mount.invalid"));
      }
      const directory = await makeBox("doubting", { files: [{ source: boxesDir, target: targets[1]! }] });
      await assert.rejects(runtime.start(directory), (error) => isAgentBoxError(error, "mount.invalid"));
    },
  ),
];
