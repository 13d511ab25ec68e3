/**
 * Threat 30: a protection that is silently missing. Without any one of them, a box is refused with a code and a way
 * out, or goes on as closed as before; nothing half-made is left and nothing is deleted.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { boxDirectories } from "../support/box-directories.ts";
import { withDaemon } from "../support/daemon.ts";
import { asUserArgv, hasProgram, isRoot, ordinaryUser, whyNoBubblewrap } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { testRuntime, whyNoBoxes } from "../support/test-runtime.ts";
import {
  emptyBox,
  eventsOf,
  type Ground,
  hostCases,
  inBox,
  onEachDaemon,
  runtimeName,
  shellInBox,
} from "./attack.ts";

const create = ["create", "shell", "--name", "closed-box", "--workspace", "empty", "--start"];

const withoutBubblewrap = (): void => {
  it("refuses boxes when bubblewrap is not installed, and makes nothing", async (ctx) => {
    if (!isRoot) ctx.skip("only root can hide a program from a daemon");
    const missing =
      (await whyNoBubblewrap()) ?? (hasProgram("unshare") ? undefined : "unshare is not installed");
    if (missing) ctx.skip(missing);
    // In a mount namespace of its own, so that the host keeps its program.
    const hide = 'mount --make-rprivate / && mount --bind /dev/null "$(command -v bwrap)" && exec "$@"';
    await withDaemon(
      async (daemon) => {
        const { runtimes } = await daemon.client.getDoctor();
        expect(runtimes.find(({ name }) => name === "bubblewrap")).toMatchObject({ status: "absent" });
        const refused = await daemon.cli(create);
        expect(refused).toMatchObject({ code: 6 });
        expect(refused.stderr).toMatch(/error\[runtime\.absent\][^]*hint: .*bubblewrap/);
        expect(await daemon.client.listBoxes()).toEqual([]);
        expect(boxDirectories(daemon)).toEqual([]);
        expect((await daemon.client.readyz()).isReady).toBe(false);
      },
      { wrap: (argv) => ["unshare", "--mount", "sh", "-c", hide, "sh", ...argv] },
    );
    // The control: the same command with the program in its place.
    await withDaemon(async (daemon) => expect((await daemon.cli(create)).code).toBe(0));
  });

  it("refuses boxes when user namespaces are forbidden, and names the switch", async (ctx) => {
    const missing =
      (await whyNoBubblewrap(ordinaryUser)) ?? (hasProgram("unshare") ? undefined : "no unshare");
    if (missing) ctx.skip(missing);
    // SECURITY: the switch is turned inside a user namespace of the test's own; the host's stays as it is.
    const forbid =
      'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all -- "$@"';
    const namespace = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c"];
    const prefix = isRoot ? asUserArgv(ordinaryUser) : [];
    const trial = await runProgram([
      ...prefix,
      ...namespace,
      forbid,
      "sh",
      "cat",
      "/proc/sys/user/max_user_namespaces",
    ]);
    if (trial.stdout !== "0\n")
      ctx.skip(`user namespaces cannot be forbidden for a test here: ${trial.stderr}`);
    await withDaemon(
      async (daemon) => {
        const refused = await daemon.cli(create);
        expect(refused).toMatchObject({ code: 6 });
        expect(refused.stderr).toMatch(/error\[runtime\.broken\][^]*user\.max_user_namespaces/);
        expect(await daemon.client.listBoxes()).toEqual([]);
        expect(boxDirectories(daemon)).toEqual([]);
      },
      {
        ...(isRoot ? { user: ordinaryUser } : {}),
        wrap: (argv) => [
          ...prefix,
          ...namespace,
          forbid,
          "sh",
          ...(isRoot ? argv.slice(argv.indexOf("--") + 1) : argv),
        ],
      },
    );
    await withDaemon(
      async (daemon) => expect((await daemon.cli(create)).code).toBe(0),
      isRoot ? { user: ordinaryUser } : {},
    );
  });
};

const withoutEngine = (): void => {
  it("refuses boxes, makes nothing, and takes no lesser runtime in its place", async (ctx) => {
    const missing = await whyNoBoxes();
    if (missing) ctx.skip(missing);
    await withDaemon(
      async (daemon) => {
        const { runtimes } = await daemon.client.getDoctor();
        expect(runtimes.find(({ name }) => name === runtimeName)?.status).not.toBe("ready");
        const refused = await daemon.cli(create);
        expect(refused).toMatchObject({ code: 6 });
        expect(refused.stderr).toMatch(/error\[runtime\.(absent|broken)\][^]*hint: /);
        expect(await daemon.client.listBoxes()).toEqual([]);
        expect(boxDirectories(daemon)).toEqual([]);
      },
      { env: { AGENTBOX_ENGINE: "unix:///tmp/no-engine-listens-here.sock" } },
    );
    // The control: the same command with the engine that runs.
    await withDaemon(async (daemon) => expect((await daemon.cli(create)).code).toBe(0));
  });
};

describe(
  "a host without what a box is made of",
  testRuntime === undefined ? withoutBubblewrap : withoutEngine,
);

const cases = (ground: Ground): void => {
  it("refuses a limit that was asked for and cannot be held, and holds the others", async () => {
    const { daemon } = ground;
    const { runtimes } = await daemon.client.getDoctor();
    const limits = runtimes.find(({ name }) => name === runtimeName)!.limits;
    const asked: Record<string, string[]> = {
      cpu: ["--cpus", "1"],
      memory: ["--memory", "256MiB"],
      process: ["--pids", "200"],
      disk: ["--disk", "64MiB"],
    };
    for (const [limit, flags] of Object.entries(asked)) {
      const known = limits.find(({ name }) => name.startsWith(limit));
      const box = `closed-${limit}`;
      const result = await daemon.cli(["create", "shell", "--name", box, "--workspace", "empty", ...flags]);
      const boxes = (await daemon.client.listBoxes()).map(({ name }) => name);
      if (known?.isEnforced) {
        expect(result, limit).toMatchObject({ code: 0 });
        const { isolation } = (await daemon.client.getBox(box)).box;
        expect(isolation.guarantees.find(({ name }) => name === `${limit} limit`)).toMatchObject({
          isEnforced: true,
        });
      } else {
        expect(result, limit).toMatchObject({ code: 5 });
        expect(result.stderr, limit).toContain("error[policy.unenforceable]");
        expect(boxes).not.toContain(box);
        expect(existsSync(join(daemon.home, "boxes", box))).toBe(false);
        expect(JSON.stringify((await eventsOf(daemon, "limit.refused"))[0]?.data)).toContain(
          limit === "process" ? "pids" : limit,
        );
      }
    }
  });

  it("keeps a box closed while its daemon is dead, and the same when it is back", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "closed-orphan");
    const before = (await daemon.client.getBox(box)).box;
    const attempt = `
      const net = require("node:net"), fs = require("node:fs");
      const dial = (options) => new Promise((done) => net.connect(options).on("connect", function () { this.destroy(); done("connected"); })
        .on("error", (error) => done(error.code)));
      (async () => { for (let round = 0; round < 400; round++) {
        const results = [await dial({ host: "127.0.0.1", port: 80 }), await dial({ host: "198.51.100.1", port: 80 }), await dial({ path: "/run/agentbox/link.sock" }),
          fs.existsSync("/home/agent/../../root") ? "root" : "absent"];
        fs.appendFileSync("/workspace/attempts", results.join(" ") + "\\n");
        await new Promise((next) => setTimeout(next, 50));
      } })();`;
    await daemon.client.startSession(box, {
      session: "attempts",
      spec: { argv: ["node", "-e", attempt], terminal: false, cols: 80, rows: 24 },
    });
    const { workspace } = (await daemon.client.getBox(box)).paths;
    const attempts = () => readFileSync(join(workspace, "attempts"), "utf8").trim().split("\n");
    await waitFor(
      "the box has begun",
      () => existsSync(join(workspace, "attempts")) && attempts().length > 3,
    );
    // The control: while the daemon lives, its link takes the connection.
    expect(attempts().at(-1)).toMatch(/^ECONNREFUSED E(NET|HOST)UNREACH connected absent$/);
    await daemon.kill();
    const known = attempts().length;
    await waitFor("the box has tried again on its own", () => attempts().length > known + 5);
    expect(attempts().at(-1)).toMatch(/^ECONNREFUSED E(NET|HOST)UNREACH ECONNREFUSED absent$/);
    await daemon.start();
    await waitFor("the box is adopted", async () => (await daemon.client.getBox(box)).isConnected);
    const after = (await daemon.client.getBox(box)).box;
    expect(after.spec).toEqual(before.spec);
    expect(after.isolation).toEqual(before.isolation);
    expect((await inBox(daemon, box, ["true"])).code).toBe(0);
    expect((await eventsOf(daemon, "box.adopted", box)).length).toBe(1);
  });

  hostCases(() => {
    it("does not start on a store it cannot read, and deletes nothing", async () => {
      const { daemon } = ground;
      const box = await emptyBox(daemon, "closed-store");
      await shellInBox(daemon, box, "echo work > /workspace/work");
      const { workspace } = (await daemon.client.getBox(box)).paths;
      await daemon.stop();
      const store = join(daemon.home, "state.db");
      const { uid, gid } = lstatSync(store);
      const whole = readFileSync(store);
      const setAside = [`${store}-wal`, `${store}-shm`].filter((path) => existsSync(path));
      for (const path of setAside) rmSync(path);
      for (const broken of [Buffer.from("not a database at all".repeat(500)), whole.subarray(0, 5000)]) {
        writeFileSync(store, broken);
        await expect(daemon.start()).rejects.toThrow(/error\[store\.failed\]/);
        expect(readFileSync(store).equals(broken)).toBe(true);
        expect(readFileSync(join(workspace, "work"), "utf8")).toBe("work\n");
      }
      // The control: with the store as it was, the box is there again and still runs.
      writeFileSync(store, whole);
      expect(lstatSync(store)).toMatchObject({ uid, gid });
      await daemon.start();
      await waitFor("the box is back", async () => (await daemon.client.getBox(box)).isConnected);
      expect((await inBox(daemon, box, ["cat", "/workspace/work"])).stdout).toBe("work\n");
    });

    it("makes no box while the user's own limits cannot be read", async () => {
      const { daemon } = ground;
      const config = join(daemon.home, "config.toml");
      const whole = existsSync(config) ? readFileSync(config) : "";
      const make = () => daemon.cli(["create", "shell", "--name", "closed-config", "--workspace", "empty"]);
      const breakages: readonly [code: string, breakIt: () => void][] = [
        ["manifest.invalid", () => writeFileSync(config, "limits = [")],
        ["manifest.invalid", () => writeFileSync(config, "[limitz]\nmax_ttl = '1h'\n")],
        ["file.failed", () => mkdirSync(config)],
      ];
      for (const [code, breakIt] of breakages) {
        rmSync(config, { recursive: true, force: true });
        breakIt();
        const refused = await make();
        expect(refused.code).not.toBe(0);
        expect(refused.stderr).toContain(`error[${code}]`);
        expect((await daemon.client.listBoxes()).map(({ name }) => name)).not.toContain("closed-config");
      }
      rmSync(config, { recursive: true, force: true });
      writeFileSync(config, whole);
      expect((await make()).code).toBe(0);
    });
  });
};

onEachDaemon("failing", cases);
