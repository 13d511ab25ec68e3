import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { startDaemon, withDaemon } from "../support/daemon.ts";
import { isRoot } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";

/** Runs `daemon run` by itself and gives what it said when it ended. */
const runDaemon = (home: string) =>
  runProgram([process.execPath, "dist/main.js", "daemon", "run"], {
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", AGENTBOX_HOME: home },
    cwd: process.cwd(),
    timeoutMs: 20_000,
  });

describe("two daemons on one home", () => {
  it("the second ends with a reason, the first goes on", () =>
    withDaemon(async (daemon) => {
      const second = await runDaemon(daemon.home);
      expect(second.code).toBe(4);
      expect(second.stderr).toContain("daemon.already_running");
      expect(second.stderr).toContain(String(daemon.pid));
      expect((await daemon.client.getInfo()).pid).toBe(daemon.pid);
    }));

  it("twenty commands that find no daemon start exactly one", () =>
    withDaemon(async (daemon) => {
      await daemon.stop();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => daemon.cli(["daemon", "status", "--json"])),
      );
      const started = await Promise.all(Array.from({ length: 20 }, () => daemon.cli(["ls", "--json"])));
      expect(started.map(({ code }) => code)).toEqual(Array.from({ length: 20 }, () => 0));
      expect(answers.every(({ stdout }) => stdout.includes("running"))).toBe(true);
      await daemon.cli(["daemon", "stop"]);
      await daemon.start();
    }));
});

describe("a home that cannot be used", () => {
  it("is refused when a socket below it could not be addressed", async () => {
    const result = await runDaemon(`/tmp/${"long".repeat(30)}`);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("home.path_too_long");
  });

  it("is refused when others can write it", async () => {
    const home = `/tmp/abx-open-${process.pid}`;
    mkdirSync(home, { mode: 0o777 });
    try {
      await runProgram(["chmod", "777", home], {});
      const result = await runDaemon(home);
      expect(result.code).toBe(5);
      expect(result.stderr).toContain("home.unsafe");
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});

describe("a disk that is full", () => {
  it("refuses what needs room with a code, keeps what is there, and works again afterwards", async (ctx) => {
    if (!isRoot) ctx.skip("needs root to mount a small disk");
    const home = `/tmp/abx-full-${process.pid}`;
    mkdirSync(home, { mode: 0o711 });
    await runProgram(["mount", "-t", "tmpfs", "-o", "size=400m,mode=0711", "tmpfs", home], {});
    try {
      await using daemon = await startDaemon({ home });
      await daemon.client.createBox({ name: "early-box", start: false });
      const filler = join(home, "filler");
      const { bavail, bsize } = statfsSync(home);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - 8_192)));
      await expect(daemon.client.createBox({ name: "late-box", start: false })).rejects.toMatchObject({
        code: "disk.low",
      });
      // With not a byte left the store itself cannot write: the answer is still a code, and the daemon still lives.
      writeFileSync(join(home, "rest"), Buffer.alloc(8_192), { flush: false });
      const failed = await daemon.cli(["rm", "early-box", "--json"]);
      expect([0, 6]).toContain(failed.code);
      if (failed.code !== 0) expect(failed.stderr).toContain("store.disk_full");
      expect((await daemon.client.getInfo()).pid).toBe(daemon.pid);
      rmSync(filler);
      rmSync(join(home, "rest"));
      await daemon.client.createBox({ name: "later-box", start: false });
      expect((await daemon.client.listBoxes()).map(({ name }) => name)).toContain("later-box");
    } finally {
      await runProgram(["umount", "-l", home], {});
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe("a store that another process holds", () => {
  it("is answered with a code, and works again when it is let go", () =>
    withDaemon(async (daemon) => {
      const script = `
        const Database = require("libsql");
        const db = new Database(${JSON.stringify(join(daemon.home, "state.db"))});
        db.exec("BEGIN EXCLUSIVE");
        console.log("held");
        process.stdin.on("end", () => { db.exec("ROLLBACK"); db.close(); }).resume();`;
      const holder = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
      await new Promise((resolve) => holder.stdout.once("data", resolve));
      try {
        await expect(daemon.client.createBox({ name: "held-box", start: false })).rejects.toMatchObject({
          code: "store.locked",
        });
      } finally {
        holder.stdin.end();
        await waitFor("the holder ends", () => holder.exitCode !== null);
      }
      await daemon.client.createBox({ name: "free-box", start: false });
      expect((await daemon.client.listBoxes()).map(({ name }) => name)).toEqual(["free-box"]);
    }));
});

describe("a box that does not want to end", () => {
  it("is gone after its grace", () =>
    withDaemon(async (daemon) => {
      await daemon.client.createBox({ name: "deaf-box", flags: { lifecycle: { stop_grace: "1s" } } });
      const deaf = "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done";
      const { argv, env } = daemon.command(["exec", "deaf-box", "--", "sh", "-c", deaf]);
      const child = spawn(argv[0]!, argv.slice(1), { env, stdio: ["ignore", "pipe", "ignore"] });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      expect((await daemon.client.stopBox("deaf-box")).box.state.phase).toBe("stopped");
      await waitFor(
        "the command ends with its box",
        () => child.exitCode !== null || child.signalCode !== null,
      );
    }));
});

describe("a box whose supervisor is frozen", () => {
  it("does not keep whoever asked to end waiting", () =>
    withDaemon(async (daemon) => {
      await daemon.client.createBox({ name: "frozen-box" });
      const { argv, env } = daemon.command(["exec", "frozen-box", "--", "sh", "-c", "echo ready; sleep 600"]);
      const child = spawn(argv[0]!, argv.slice(1), { env, stdio: ["ignore", "pipe", "ignore"] });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      const { pid } = await daemon.client.getBox("frozen-box");
      const [boxd] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
      process.kill(Number(boxd), "SIGSTOP");
      try {
        child.kill("SIGTERM");
        await waitFor("the command line ends", () => child.exitCode !== null || child.signalCode !== null);
      } finally {
        process.kill(Number(boxd), "SIGCONT");
      }
      expect((await daemon.client.getBox("frozen-box")).box.state.phase).toBe("running");
      await daemon.client.removeBox("frozen-box", { force: true });
    }));
});
