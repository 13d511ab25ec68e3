import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Stream } from "../../src/client/index.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { isRoot } from "../support/host-facts.ts";
import { testRuntime } from "../support/test-runtime.ts";

const asRoot = { title: "as root", options: {} };
const asOrdinary = (user?: { uid: number; gid: number }) => ({
  title: "as an ordinary user",
  options: user === undefined ? {} : { user },
});

/** Everything here holds for a root daemon and for an ordinary user's; a container engine serves one of them. */
function findUsers() {
  if (!isRoot) return [asOrdinary()];
  if (testRuntime !== undefined) return [testRuntime.user ? asOrdinary(testRuntime.user) : asRoot];
  return [asRoot, asOrdinary({ uid: 64_222, gid: 64_222 })];
}

describe.each(findUsers())("a box, $title", ({ options }) => {
  let daemon: TestDaemon;
  let project: string;
  beforeAll(async () => {
    daemon = await startDaemon(options);
    project = join(daemon.scratch, "project");
    mkdirSync(project, { mode: 0o755 });
    writeFileSync(join(project, "hello.txt"), "hello\n", { mode: 0o644 });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const phaseOf = async (name: string) => (await daemon.client.getBox(name)).box.state.phase;
  const inBox = (name: string, ...argv: string[]) => daemon.cli(["exec", name, "--", ...argv]);

  it("runs a command on the current directory and passes everything through", async () => {
    const script = "cat hello.txt; cat; echo oops >&2; exit 7";
    const result = await daemon.cli(["run", "shell", "--", "sh", "-c", script], {
      cwd: project,
      stdin: "from stdin\n",
    });
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 7, stdout: "hello\nfrom stdin\n" });
    expect(result.stderr).toContain("oops");
    await waitFor(
      "a box without changes is gone",
      async () => (await daemon.client.listBoxes()).length === 0,
    );
  });

  it("is kept when there is work in it, and the source is untouched", async () => {
    const result = await daemon.cli(["run", "shell", "--", "sh", "-c", "echo work > new.txt"], {
      cwd: project,
    });
    expect(result.code).toBe(0);
    const [kept] = await waitFor("the box is stopped", async () => {
      const boxes = await daemon.client.listBoxes();
      return boxes[0]?.phase === "stopped" ? boxes : undefined;
    });
    await daemon.client.startBox(kept!.name);
    expect((await inBox(kept!.name, "cat", "new.txt")).stdout).toBe("work\n");
    await daemon.client.removeBox(kept!.name, { force: true });
  });

  it("gives signals, time-outs and missing commands their exit codes", async () => {
    await daemon.client.createBox({ name: "codes-box" });
    expect((await inBox("codes-box", "sh", "-c", "kill -TERM $$")).code).toBe(128 + 15);
    expect((await inBox("codes-box", "no-such-command")).code).toBe(127);
    expect((await inBox("codes-box", "/etc/passwd")).code).toBe(126);
    expect((await daemon.cli(["exec", "--timeout", "1s", "codes-box", "--", "sleep", "60"])).code).toBe(124);
    expect((await inBox("no-such-box", "true")).code).toBe(125);
    await daemon.client.removeBox("codes-box", { force: true });
  });

  it("starts services in order, waits until they are ready, and restarts what fails", async () => {
    const flags = {
      services: {
        first: { command: "sleep 0.2; echo ready-now; exec sleep 600", ready: { log: "ready-now" } },
        second: {
          command: ["sh", "-c", "test -e /tmp/first-was-ready || true; exec sleep 600"],
          after: ["first"],
        },
        shaky: {
          command: "test -e /tmp/tried && exec sleep 600; touch /tmp/tried; exit 3",
          restart: "on-failure",
        },
      },
    };
    await daemon.client.createBox({ name: "served-box", flags });
    const { services } = await waitFor("all services are ready", async () => {
      const list = await daemon.client.listSessions("served-box");
      return list.services.every(({ state }) => state === "ready") && list;
    });
    expect(services.find(({ name }) => name === "shaky")?.restarts).toBeGreaterThan(0);
    const events = (
      await daemon.client.listEvents({ box: "served-box", type: "service.changed", limit: 100 })
    ).events;
    const readyAt = (name: string) =>
      events.findIndex(({ data }) => data["service"] === name && data["state"] === "ready");
    const startedAt = (name: string) =>
      events.findIndex(({ data }) => data["service"] === name && data["state"] === "starting");
    expect(readyAt("first")).toBeLessThan(startedAt("second"));
    const logs = await daemon.cli(["logs", "served-box", "--source", "service:first"]);
    expect(logs.stdout).toContain("ready-now");
    await daemon.client.removeBox("served-box", { force: true });
  });

  it("reaps what its programs leave behind, and ends it all with the box", async () => {
    await daemon.client.createBox({ name: "orphan-box" });
    await inBox("orphan-box", "sh", "-c", "(sleep 0.1 &) ; (setsid sleep 600 &) ; true");
    await waitFor("no zombie is left", async () => {
      const { stdout } = await inBox("orphan-box", "sh", "-c", "cat /proc/[0-9]*/stat 2>/dev/null");
      return !/ Z /.test(stdout) && !stdout.includes("(sleep) Z");
    });
    await daemon.client.stopBox("orphan-box", { graceMs: 100 });
    expect(await phaseOf("orphan-box")).toBe("stopped");
    await daemon.client.removeBox("orphan-box");
  });

  it("stops when nothing has happened for its idle time", async () => {
    await daemon.client.createBox({ name: "idle-box", flags: { lifecycle: { idle: "1s" } } });
    await waitFor("the idle box stops", async () => (await phaseOf("idle-box")) === "stopped", 20_000);
    expect((await daemon.client.getBox("idle-box")).box.state).toMatchObject({ reason: "idle" });
    await daemon.client.removeBox("idle-box");
  });

  it("comes back by its restart policy when its supervisor dies", async () => {
    await daemon.client.createBox({ name: "phoenix-box", flags: { lifecycle: { restart: "always" } } });
    const { pid } = await daemon.client.getBox("phoenix-box");
    process.kill(pid!, "SIGKILL");
    await waitFor("the box is running again", async () => {
      const { box, pid: now } = await daemon.client.getBox("phoenix-box");
      return box.state.phase === "running" && now !== undefined && now !== pid;
    });
    expect((await inBox("phoenix-box", "true")).code).toBe(0);
    await daemon.client.removeBox("phoenix-box", { force: true });
  });

  describe("a terminal session", () => {
    const size = { cols: 80, rows: 24 };
    const collect = (stream: Stream) => {
      let text = "";
      stream.onData((chunk) => (text += Buffer.from(chunk).toString()));
      return () => text;
    };

    it("has several viewers, outlives them and the daemon, and shows the same screen again", async () => {
      await daemon.client.createBox({ name: "term-box" });
      const argv = [
        "sh",
        "-c",
        "printf '\\033[31mred\\033[0m \\033[5;10Hhere'; while read -r line; do echo \"got $line\"; done",
      ];
      await daemon.client.startSession("term-box", {
        session: "work",
        spec: { argv, env: {}, terminal: true, ...size },
      });
      const one = await daemon.client.attach("term-box", "work", size);
      const two = await daemon.client.attach("term-box", "work", { ...size, readOnly: true });
      const [seenByOne, seenByTwo] = [collect(one), collect(two)];
      one.sendData(Buffer.from("first\n"));
      await waitFor(
        "both viewers see the answer",
        () => seenByOne().includes("got first") && seenByTwo().includes("got first"),
      );
      two.sendData(Buffer.from("forbidden\n"));
      one.close();
      two.close();

      await daemon.kill();
      await daemon.start();
      const again = await daemon.client.attach("term-box", "work", size);
      const seen = collect(again);
      again.sendData(Buffer.from("second\n"));
      await waitFor("the session goes on", () => seen().includes("got second"));
      expect(seen()).toContain("red");
      expect(seen()).toContain("got first");
      expect(seen()).not.toContain("forbidden");
      again.close();
      await daemon.client.removeBox("term-box", { force: true });
    });
  });
});
