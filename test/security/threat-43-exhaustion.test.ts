/**
 * Threat 43: a box, or a client, that uses up what others need. Each limit is driven to its end, and the end is
 * defined: the one who did it is stopped, while the daemon and the next box answer as before.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { isAlive } from "../support/host-facts.ts";
import {
  boxdPid,
  emptyBox,
  eventsOf,
  type Ground,
  hostCases,
  inBox,
  nodeInBox,
  onEachDaemon,
  runtimeName,
  shellInBox,
} from "./attack.ts";

const rssBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

const mib = 2 ** 20;

const cases = (ground: Ground): void => {
  /** The daemon answers, and so does a box that has nothing to do with it. */
  const expectOthersServed = async () => {
    expect((await ground.daemon.client.getInfo()).pid).toBe(ground.daemon.pid);
    expect(await inBox(ground.daemon, "busy-neighbour", ["echo", "fine"])).toMatchObject({
      stdout: "fine\n",
    });
  };
  /** Where a limit cannot be held, that is said and a box that asks for it is refused: there is nothing to drive to its end. */
  const isHeld = async (limit: string, resources: Record<string, unknown>): Promise<boolean> => {
    const { runtimes } = await ground.daemon.client.getDoctor();
    const known = runtimes
      .find(({ name }) => name === runtimeName)
      ?.limits.find(({ name }) => name.startsWith(limit));
    if (known?.isEnforced) return true;
    expect(known?.by).toBeTruthy();
    await expect(emptyBox(ground.daemon, "busy-refused", { resources })).rejects.toMatchObject({
      code: "policy.unenforceable",
    });
    return false;
  };
  const call = (options: {
    method?: string;
    path: string;
    headers?: Record<string, string>;
    body?: string | Buffer;
  }) =>
    new Promise<{ status: number | string; text: string }>((resolve) => {
      const { path, method = "GET", headers = {}, body } = options;
      const outgoing = request({ socketPath: ground.daemon.socket, path, method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("close", () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
        );
      });
      outgoing.on("error", (error: NodeJS.ErrnoException) =>
        resolve({ status: error.code ?? "error", text: "" }),
      );
      outgoing.end(body);
    });

  it("holds a fork bomb to its box", async () => {
    if (!(await isHeld("process", { pids: 80 }))) return;
    const { daemon } = ground;
    const box = await emptyBox(daemon, "busy-forks", { resources: { pids: 80 } });
    // The control: below the limit, forks succeed.
    expect(
      (await shellInBox(daemon, box, "for i in 1 2 3 4 5; do sleep 0 & done; wait; echo forked")).stdout,
    ).toBe("forked\n");
    await daemon.client.startSession(box, {
      session: "bomb",
      spec: {
        argv: ["sh", "-c", "(while :; do sleep 60 & done) 2> /dev/null; exec sleep 60"],
        terminal: false,
        cols: 80,
        rows: 24,
      },
    });
    await waitFor(
      "the bomb has filled its box",
      async () => (await daemon.client.getStats(box)).processes > 40,
    );
    await expectOthersServed();
    expect((await daemon.client.getStats(box)).processes).toBeLessThanOrEqual(90);
    // Inside there is no room for another process, and who asks for one is told so.
    expect((await inBox(daemon, box, ["sh", "-c", "true; true"])).code).not.toBeNull();
    const { pid } = await daemon.client.getBox(box);
    expect((await daemon.cli(["rm", "--force", box])).code).toBe(0);
    await waitFor("its first process is reaped", () => !isAlive(pid!));
    await expectOthersServed();
  });

  it("ends what takes too much memory, and nothing else", async () => {
    if (!(await isHeld("memory", { memory: "256MiB" }))) return;
    const { daemon } = ground;
    const box = await emptyBox(daemon, "busy-memory", { resources: { memory: "256MiB" } });
    const take = (size: number) => inBox(daemon, box, ["node", "-e", `Buffer.alloc(${size} << 20, 1)`]);
    expect((await take(20)).code).toBe(0);
    expect((await take(900)).code).not.toBe(0);
    // Memory that belongs to no process counts as well.
    const filled = await shellInBox(
      daemon,
      box,
      "head -c 600000000 /dev/zero > /dev/shm/fill; head -c 600000000 /dev/zero > /tmp/fill; true",
    );
    expect(filled.code).toBeDefined();
    await expectOthersServed();
    expect((await daemon.client.getStats(box)).memoryBytes).toBeLessThan(300 * mib);
    expect((await daemon.cli(["rm", "--force", box])).code).toBe(0);
  });

  it("stops at the box's own disk", async () => {
    if (!(await isHeld("disk", { disk: "32MiB" }))) return;
    const { daemon } = ground;
    const box = await emptyBox(daemon, "busy-disk", { resources: { disk: "32MiB" } });
    const fill = (count: number) =>
      shellInBox(daemon, box, `dd if=/dev/zero of=/workspace/fill bs=1M count=${count}`);
    expect((await fill(8)).code).toBe(0);
    const full = await fill(200);
    expect(full.code).not.toBe(0);
    expect(full.stderr).toContain("No space left on device");
    const names = await shellInBox(
      daemon,
      box,
      "i=0; while [ $i -lt 20000 ]; do : > /home/agent/$i || exit 9; i=$((i+1)); done",
    );
    expect(names.code).not.toBe(0);
    await expectOthersServed();
    expect(
      (await shellInBox(daemon, "busy-neighbour", "dd if=/dev/zero of=/workspace/x bs=1M count=40")).code,
    ).toBe(0);
    expect((await daemon.cli(["rm", "--force", box])).code).toBe(0);
  });

  it("keeps a flood of output at its source when nobody reads it", async () => {
    const { daemon } = ground;
    const flood = (): ReturnType<typeof spawn> => {
      const { argv, env } = daemon.command([
        "exec",
        "busy-flood",
        "--no-stdin",
        "--timeout",
        "30s",
        "--",
        "yes",
        "x".repeat(1000),
      ]);
      return spawn(argv[0]!, argv.slice(1), { env, stdio: ["ignore", "pipe", "ignore"] });
    };
    await emptyBox(daemon, "busy-flood");
    // The control: with a reader, megabytes come through.
    const read = flood();
    let bytes = 0;
    read.stdout!.on("data", (chunk: Buffer) => (bytes += chunk.length));
    await waitFor("the flood comes through", () => bytes > 20 * mib, 30_000);
    read.kill("SIGKILL");
    await once(read, "close");
    await expectOthersServed();
    const before = rssBytes(daemon.pid);
    const unread = [flood(), flood(), flood()];
    for (const one of unread) await once(one.stdout!, "readable");
    let most = before;
    for (let round = 0; round < 12; round++) {
      await expectOthersServed();
      most = Math.max(most, rssBytes(daemon.pid));
    }
    expect(most - before).toBeLessThan(96 * mib);
    for (const one of unread) {
      one.kill("SIGKILL");
      one.stdout!.destroy();
    }
    await waitFor("the programs have ended with their readers", async () => {
      const { stdout } = await shellInBox(daemon, "busy-flood", "cat /proc/[0-9]*/comm");
      return !stdout.includes("yes\n");
    });
  });

  it("refuses a box's silent connections, and serves the others", async () => {
    const { daemon } = ground;
    await emptyBox(daemon, "busy-link");
    const result = await nodeInBox<{ opened: number; closed: number }>(
      daemon,
      "busy-link",
      `const net = require("node:net"); let opened = 0, closed = 0; const sockets = [];
       for (let i = 0; i < 600; i++) sockets.push(net.connect("/run/agentbox/link.sock").on("connect", () => opened++).on("error", () => undefined).on("close", () => closed++));
       const report = () => { console.log(JSON.stringify({ opened, closed })); process.exit(); };
       const timer = setInterval(() => { if (closed >= 500) { clearInterval(timer); report(); } }, 20); setTimeout(report, 3000);`,
    );
    // Sooner than silence itself is punished, which takes five seconds.
    expect(result.opened).toBeGreaterThan(100);
    expect(result.closed).toBeGreaterThanOrEqual(500);
    await expectOthersServed();
    const events = await waitFor("the attempt is recorded", async () => {
      const found = await eventsOf(daemon, "link.violated", "busy-link");
      return found.length > 0 ? found : undefined;
    });
    // Recorded, but not once for each connection: the log is not for the box to fill.
    expect(events.length).toBeLessThan(20);
    await waitFor("the box works again", async () => (await inBox(daemon, "busy-link", ["true"])).code === 0);
  });

  hostCases(() => {
    it("answers requests that are too large, too deep or malformed with a status", async () => {
      const { daemon } = ground;
      const post = { method: "POST", path: "/v1/boxes", headers: { "content-type": "application/json" } };
      // The control: a request of the same kind and a decent size is understood.
      expect(
        await call({ ...post, body: JSON.stringify({ name: "busy-neighbour", flags: {} }) }),
      ).toMatchObject({ status: 409 });
      expect((await call({ ...post, body: Buffer.alloc(3 * mib, 0x20) })).status).toBe(413);
      expect((await call({ ...post, body: "[".repeat(1_000_000) })).status).toBe(400);
      expect(
        (await call({ ...post, body: `{"flags":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}` })).status,
      ).toBe(400);
      expect((await call({ ...post, body: '{"__proto__":{"polluted":true},"name":"busy-x"}' })).status).toBe(
        400,
      );
      expect((await call({ ...post, body: "\u0000" })).status).toBe(400);
      expect((await call({ path: "/v1/info", headers: { "x-long": "x".repeat(64_000) } })).status).toBe(413);
      expect((await call({ path: `/v1/boxes/${"x".repeat(9_000)}` })).status).toBeGreaterThanOrEqual(400);
      expect((await call({ method: "DELETE", path: "/v1/info" })).status).toBe(405);
      expect((await call({ path: "/v1/boxes/%2e%2e%2f%2e%2e" })).status).toBeGreaterThanOrEqual(400);
      expect((await call({ path: "/v1/info", headers: { origin: "http://localhost" } })).status).toBe(400);
      const raw = await rawAnswer(daemon.socket, "NOT HTTP AT ALL\r\n\r\n");
      expect(raw).toMatch(/^HTTP\/1\.1 400 /);
      await expectOthersServed();
    });

    it("lives through thousands of connections that say little or nothing", async () => {
      const { daemon } = ground;
      const before = rssBytes(daemon.pid);
      const sockets: Socket[] = [];
      const beginnings = [
        "",
        "G",
        "GET /v1/info HTTP/1.1\r\nhost: x\r\nx-slow: ",
        "POST /v1/boxes HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{",
      ];
      for (let count = 0; count < 400; count++) {
        const socket = connect(daemon.socket).on("error", () => undefined);
        socket.write(beginnings[count % beginnings.length]!);
        sockets.push(socket);
      }
      // Half-open ones leave room for others.
      await expectOthersServed();
      for (let count = 0; count < 1_600; count++)
        sockets.push(connect(daemon.socket).on("error", () => undefined));
      for (const socket of sockets)
        if (socket.connecting) await once(socket, "connect").catch(() => undefined);
      expect(isAlive(daemon.pid)).toBe(true);
      expect(rssBytes(daemon.pid) - before).toBeLessThan(128 * mib);
      for (const socket of sockets) socket.destroy();
      await waitFor("the daemon answers again", () => daemon.client.getInfo().catch(() => undefined));
      await expectOthersServed();
    });
  });

  it("ends a box that does not want to end, when its grace is over", async () => {
    const { daemon } = ground;
    const stubborn = {
      argv: ["sh", "-c", "trap '' TERM HUP INT; echo ready > /workspace/ready; while :; do sleep 1; done"],
      terminal: false,
      cols: 80,
      rows: 24,
    };
    for (const [name, more] of [
      ["busy-stubborn", "true"],
      // Even its supervisor is stopped, so that no process inside takes the request.
      ["busy-frozen", `kill -STOP ${boxdPid}; : > /workspace/frozen`],
    ] as const) {
      await emptyBox(daemon, name);
      await daemon.client.startSession(name, { session: "stubborn", spec: stubborn });
      await waitFor(
        "it has begun",
        async () => (await inBox(daemon, name, ["test", "-e", "/workspace/ready"])).code === 0,
      );
      const { pid, paths } = await daemon.client.getBox(name);
      const { argv, env } = daemon.command(["exec", name, "--no-stdin", "--", "sh", "-c", more]);
      const freezing = spawn(argv[0]!, argv.slice(1), { env, stdio: "ignore" });
      if (more === "true") await once(freezing, "exit");
      else await waitFor("the supervisor is stopped", () => existsSync(join(paths.workspace, "frozen")));
      const started = performance.now();
      expect((await daemon.cli(["stop", name, "--grace", "1s"])).code).toBe(0);
      const tookMs = performance.now() - started;
      expect(tookMs).toBeGreaterThan(more === "true" ? 900 : 0);
      await waitFor("its first process is reaped", () => !isAlive(pid!));
      expect((await daemon.client.getBox(name)).box.state).toMatchObject({
        phase: "stopped",
        reason: "requested",
      });
      freezing.kill("SIGKILL");
    }
  });
};

async function rawAnswer(path: string, text: string): Promise<string> {
  const socket = connect(path);
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part)).on("error", () => undefined);
  socket.write(text);
  await once(socket, "close");
  return Buffer.concat(parts).toString();
}

onEachDaemon("exhaustion", cases, { prepare: (daemon) => emptyBox(daemon, "busy-neighbour") });
