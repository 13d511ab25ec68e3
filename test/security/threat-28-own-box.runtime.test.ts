/**
 * Threat 28: an agent that opens its own box. Nothing it can write, set or send from inside changes the policy it
 * runs under; what goes against the link's protocol is refused and recorded.
 */
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import {
  boxdPid,
  chownTree,
  emptyBox,
  eventsOf,
  type Ground,
  inBox,
  nodeInBox,
  onEachDaemon,
  shellInBox,
} from "./attack.ts";

/** Speaks the link's frames: a hello, and any others, then tells the answer and whether the end came. */
const dialLink = (...frames: readonly unknown[]): string => `
  const socket = require("node:net").connect("/run/agentbox/link.sock");
  const parts = []; let isOver = false;
  const frame = (value) => { const text = Buffer.from(JSON.stringify(value)), head = Buffer.alloc(5);
    head.writeUInt32BE(text.length + 1); return Buffer.concat([head, text]); };
  const done = (end) => { if (isOver) return; isOver = true; socket.destroy();
    console.log(JSON.stringify({ end, said: Buffer.concat(parts).toString("latin1") })); clearTimeout(timer); };
  socket.on("connect", () => { for (const value of ${JSON.stringify(frames)}) socket.write(typeof value === "string" ? Buffer.from(value, "hex") : frame(value)); });
  socket.on("data", (chunk) => parts.push(chunk)).on("close", () => done("closed")).on("error", (error) => done(error.code));
  const timer = setTimeout(() => done("open"), 2500);`;

interface Answer {
  readonly end: string;
  readonly said: string;
}

const health = {
  type: "health",
  health: { uptimeMs: 1, idleMs: 0, rssBytes: 1, processes: 1, sessions: [], services: [] },
};

const cases = (ground: Ground): void => {
  it("cannot widen it by editing the manifest it came from", async () => {
    const { daemon } = ground;
    const project = mkdtempSync(join(daemon.scratch, "own-"));
    const text = `version = 1\n[workspace]\nmode = "copy"\n[lifecycle]\nttl = "1h"\n[env]\nGIVEN = "1"\n`;
    writeFileSync(join(project, "agentbox.toml"), text);
    if (isRoot && !ground.isRootDaemon) chownTree(project, ordinaryUser);
    expect(
      (await daemon.cli(["create", "shell", "--name", "own-manifest", "--start"], { cwd: project })).code,
    ).toBe(0);
    const before = (await daemon.client.getBox("own-manifest")).box;
    expect(before.spec.lifecycle.ttlMs).toBe(3_600_000);
    const wider = `version = 1\\n[workspace]\\nmode = "mount"\\n[lifecycle]\\nttl = "9h"\\n[env]\\nGIVEN = "2"\\n[[mounts]]\\nsource = "/"\\ntarget = "/host"\\n`;
    await shellInBox(daemon, "own-manifest", `printf '${wider}' > agentbox.toml`);
    expect((await daemon.cli(["restart", "own-manifest"])).code).toBe(0);
    await daemon.kill();
    await daemon.start();
    await waitFor("the box is back", async () => (await daemon.client.getBox("own-manifest")).isConnected);
    const after = (await daemon.client.getBox("own-manifest")).box;
    expect(after.spec).toEqual(before.spec);
    expect(after.isolation).toEqual(before.isolation);
    expect(
      (await shellInBox(daemon, "own-manifest", 'echo "$GIVEN"; find /host -maxdepth 1 2>/dev/null')).stdout,
    ).toBe("1\n");
    // The control: it did write the file, and outside the person's own copy is what it was.
    expect((await inBox(daemon, "own-manifest", ["cat", "agentbox.toml"])).stdout).toContain("9h");
  });

  it("cannot reach the daemon, whatever it sets in its environment", async () => {
    const { daemon } = ground;
    const throughFirst = `/proc/1/root${daemon.socket}`;
    const probe = `const net = require("node:net"), results = {};
      Promise.all(${JSON.stringify([
        daemon.socket,
        "/run/agentbox/daemon.sock",
        "/run/agentbox/../daemon.sock",
        "/var/lib/agentbox/daemon.sock",
        "/home/agent/.agentbox/daemon.sock",
        throughFirst,
      ])}.map((path) => new Promise((done) => net.connect(path)
        .on("connect", function () { results[path] = "connected"; this.destroy(); done(); })
        .on("error", (error) => { results[path] = error.code; done(); })))).then(() => console.log(JSON.stringify(results)));`;
    // The control: on the host, the socket is there and answers.
    const socket = connect(daemon.socket);
    await once(socket, "connect");
    socket.destroy();
    const seen = await nodeInBox<Record<string, string>>(daemon, "own-box", probe);
    const { [throughFirst]: root, ...others } = seen;
    expect(Object.values(others)).toEqual(Object.values(others).map(() => "ENOENT"));
    // gVisor lets no one through there, to any server.
    expect(root).toMatch(/^(ENOENT|EACCES)$/);
    const env = `AGENTBOX_HOME=${daemon.home} AGENTBOX_SOCKET=${daemon.socket} DOCKER_HOST=unix://${daemon.socket}`;
    const { stdout } = await shellInBox(daemon, "own-box", `${env} find "${daemon.home}" 2>&1`);
    expect(stdout).toContain("No such file or directory");
  });

  it("cannot take the supervisor's place while it lives, and the attempt is recorded", async () => {
    const { daemon } = ground;
    const before = (await eventsOf(daemon, "link.violated", "own-box")).length;
    const hello = { role: "control", protocol: 1, boot: "impostor", version: "1" };
    const answer = await nodeInBox<Answer>(daemon, "own-box", dialLink(hello, health));
    expect(answer.end).toBe("closed");
    expect(answer.said).toContain("a second control connection");
    const events = await waitFor("the attempt is recorded", async () => {
      const found = await eventsOf(daemon, "link.violated", "own-box");
      return found.length > before ? found : undefined;
    });
    expect(JSON.stringify(events[0]?.data)).toContain("second control connection");
    // The control: the supervisor itself is still connected and does its work.
    expect((await daemon.client.getBox("own-box")).isConnected).toBe(true);
    expect((await inBox(daemon, "own-box", ["true"])).code).toBe(0);
  });

  it("is cut off for every other thing that is not the protocol", async () => {
    const { daemon } = ground;
    const attempts: Record<string, string> = {
      "a stream that was not asked for": dialLink({ role: "stream", protocol: 1, id: "guess" }),
      "another protocol": dialLink({ role: "control", protocol: 999, boot: "x", version: "1" }),
      "more keys than there are": dialLink({
        role: "control",
        protocol: 1,
        boot: "x",
        version: "1",
        box: "other",
      }),
      "no hello at all": dialLink({ type: "request", id: 1, method: "shutdown", params: {} }),
      http: dialLink(Buffer.from("GET /v1/boxes HTTP/1.1\r\nhost: x\r\n\r\n").toString("hex")),
      "a frame of four gigabytes": dialLink("ffffffff00"),
      "a frame of nothing": dialLink("0000000000"),
    };
    for (const [name, script] of Object.entries(attempts)) {
      const { end, said } = await nodeInBox<Answer>(daemon, "own-box", script);
      expect(end, name).not.toBe("open");
      expect(said, name).not.toContain("welcome");
      expect(said, name).not.toContain("own-box");
    }
    expect((await inBox(daemon, "own-box", ["true"])).code).toBe(0);
  });

  it("cannot speak for another box: the socket says who it is", async () => {
    const { daemon } = ground;
    await emptyBox(daemon, "own-neighbour");
    const { stdout } = await shellInBox(
      daemon,
      "own-box",
      "ls -la /run/agentbox; cat /run/agentbox/box.json",
    );
    expect(stdout).toContain("own-box");
    expect(stdout).not.toContain("own-neighbour");
    for (const path of [
      join(daemon.home, "boxes/own-neighbour/link/link.sock"),
      "/run/agentbox/../../boxes/own-neighbour/link/link.sock",
    ]) {
      const script = dialLink().replace("/run/agentbox/link.sock", path);
      expect((await nodeInBox<Answer>(daemon, "own-box", script)).end).toBe("ENOENT");
    }
  });

  it("stays as closed after it has killed whatever it may kill", async () => {
    const { daemon } = ground;
    await emptyBox(daemon, "own-killer");
    const before = (await daemon.client.getBox("own-killer")).box;
    // The supervisor's end is the box's end: nothing is left that could go on unsupervised.
    await shellInBox(daemon, "own-killer", `kill -9 ${boxdPid}; kill -9 -1`);
    const { pid } = await daemon.client.getBox("own-killer");
    const gone = await waitFor("the box has ended", async () => {
      const { box } = await daemon.client.getBox("own-killer");
      return box.state.phase === "running" ? undefined : box;
    });
    expect(gone.state.phase).toMatch(/stopped|failed/);
    expect(gone.spec).toEqual(before.spec);
    expect(pid === undefined || !isAliveInBox(pid)).toBe(true);
  });
};

const isAliveInBox = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

onEachDaemon("its own box", cases, { prepare: (daemon) => emptyBox(daemon, "own-box") });
