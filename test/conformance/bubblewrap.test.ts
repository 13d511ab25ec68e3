/**
 * The promises that only bubblewrap makes: a starter killed at any moment, limits that bite, and the filter in a real
 * kernel.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, openSync, closeSync } from "node:fs";
import { chmod, copyFile, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scanChain } from "../../src/drivers/runtime/bubblewrap/box-processes.ts";
import bubblewrap from "../../src/drivers/runtime/bubblewrap/index.ts";
import { removeTree } from "../../src/host/files.ts";
import { run } from "../../src/host/run.ts";
import type { RuntimeBox } from "../../src/ports/runtime.ts";
import {
  type RuntimeContext,
  type RuntimeSubject,
  withRuntimeContext,
} from "../../src/ports/runtime.conformance.ts";
import { waitForFile } from "../../src/ports/runtime-context.ts";
import { itUnless } from "../support/skipping.ts";
import { bundleScript } from "./bundle.ts";

const isRoot = process.getuid!() === 0;
const probe = await bubblewrap.probe();
const missing = probe.status === "ready" ? undefined : probe.reason;

const findCompiler = (): string | undefined =>
  ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"].find((path) => {
    try {
      accessSync(path);
      return true;
    } catch {
      return false;
    }
  });

let scratchDir: string;
let starter: string;
beforeAll(async () => {
  scratchDir = await mkdtemp(join(tmpdir(), "agentbox-bubblewrap-"));
  await chmod(scratchDir, 0o755);
  starter = await bundleScript("starter.ts", scratchDir);
});
afterAll(() => removeTree(scratchDir));

const subject = (): RuntimeSubject => ({
  module: bubblewrap,
  abilities: ["processes"],
  owner: isRoot ? { uid: 100_654, gid: 100_654 } : { uid: process.getuid!(), gid: process.getgid!() },
  node: process.execPath,
  scratchDir,
});
const withContext = (use: (context: RuntimeContext) => Promise<void>): Promise<void> =>
  withRuntimeContext(subject(), use);

/** Starts a box from another process and kills that process without warning. */
async function startAndKill(
  boxesDir: string,
  box: RuntimeBox,
  afterOpenMs: number | "started",
): Promise<void> {
  const child = spawn(process.execPath, [starter, JSON.stringify({ boxesDir, box })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  child.stdout.on("data", (chunk: Buffer) => lines.push(chunk.toString()));
  const said = async (word: string): Promise<void> => {
    while (!lines.join("").includes(word)) await once(child.stdout, "data");
  };
  await said(afterOpenMs === "started" ? "running" : "opened");
  if (afterOpenMs !== "started") await delay(afterOpenMs);
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe("bubblewrap", () => {
  itUnless(missing)("keeps a box whose starter was killed", () =>
    withContext(async ({ makeBox, boxesDir, reopen }) => {
      const box = await makeBox("orphan");
      await startAndKill(boxesDir, box, "started");
      await waitForFile(box, "up");
      const runtime = await reopen();
      expect(await runtime.find("orphan")).toMatchObject({ phase: "running" });
      await runtime.stop("orphan", { graceMs: 5_000 });
      expect(await runtime.find("orphan")).toMatchObject({ phase: "stopped", exitCode: 0 });
    }),
  );

  it.each([0, 3, 6, 10, 15, 20, 30, 45])(
    "leaves nothing unknown when its starter is killed %i ms into a start",
    (ms) =>
      withContext(async ({ makeBox, boxesDir, reopen }) => {
        const box = await makeBox("half");
        await startAndKill(boxesDir, box, ms);
        const runtime = await reopen();
        await runtime.start(box);
        await waitForFile(box, "up");
        await runtime.remove("half");
        expect(await scanChain(box.dirs.link)).toEqual([]);
        expect(await readdir(box.dirs.runtime)).toEqual([]);
      }),
  );

  itUnless(missing)("does not take a stranger with a reused pid for the box", () =>
    withContext(async ({ runtime, makeBox }) => {
      const box = await makeBox("reused");
      const { pid } = await runtime.start(box);
      const path = join(box.dirs.runtime, "bubblewrap.json");
      const record = JSON.parse(await readFile(path, "utf8")) as {
        first: { pid: number; startTicks: number };
      };
      expect(record.first.pid).toBe(pid);
      await runtime.stop("reused", { graceMs: 0 });
      const stranger = spawn("/bin/sleep", ["60"]);
      await writeFile(path, JSON.stringify({ ...record, first: { ...record.first, pid: stranger.pid } }));
      expect(await runtime.find("reused")).toMatchObject({ phase: "stopped" });
      await runtime.remove("reused");
      expect(stranger.exitCode).toBeNull();
      expect(stranger.signalCode).toBeNull();
      stranger.kill("SIGKILL");
    }),
  );

  itUnless(missing)("hands no open file of its starter to the box", () =>
    withContext(async ({ runtime, makeBox }) => {
      // Opened without close-on-exec by a shell that then becomes the starter.
      const box = await makeBox("sealed", {
        script: `const fs = require("node:fs");
          const open = fs.readdirSync("/proc/self/fd").map((fd) => { try { return fs.readlinkSync("/proc/self/fd/" + fd); } catch { return ""; } });
          fs.writeFileSync("/workspace/open", JSON.stringify(open)); setInterval(() => undefined, 1000);`,
      });
      const fd = openSync(import.meta.filename, "r");
      const child = spawn(
        process.execPath,
        [starter, JSON.stringify({ boxesDir: join(box.dirs.runtime, "../.."), box })],
        {
          stdio: [
            "ignore",
            "ignore",
            "inherit",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            "ignore",
            fd,
          ],
        },
      );
      closeSync(fd);
      const inStarter = await readdir(`/proc/${child.pid}/fd`);
      expect(inStarter).toContain("15");
      const open = JSON.parse(await waitForFile(box, "open")) as string[];
      expect(open.filter((path) => path.startsWith("/") && path !== "/dev/null")).toEqual([]);
      child.kill("SIGKILL");
      await once(child, "exit");
      await runtime.remove("sealed");
    }),
  );

  itUnless(missing)("holds a box to its number of processes, and its neighbours to theirs", () =>
    withContext(async ({ runtime, makeBox }) => {
      const script = `const { spawn } = require("node:child_process"), fs = require("node:fs");
        let born = 0, refused = 0;
        const next = () => {
          if (born + refused === 80) return fs.writeFileSync("/workspace/forks", JSON.stringify({ born, refused }));
          const child = spawn("/bin/sleep", ["60"]);
          child.on("spawn", () => { born++; next(); }).on("error", () => { refused++; next(); });
        };
        next(); setInterval(() => undefined, 1000);`;
      const forks = async (name: string, pids: number): Promise<{ born: number; refused: number }> => {
        const box = await makeBox(name, { script, resources: { pids, required: ["pids"] } });
        await runtime.start(box);
        return JSON.parse(await waitForFile(box, "forks", 20_000)) as { born: number; refused: number };
      };
      const narrow = await forks("narrow", 50);
      expect(narrow.refused).toBeGreaterThan(0);
      expect(narrow.born).toBeLessThan(50);
      // The control: as many again beside it, because the limit is the box's own.
      expect(await forks("wide", 400)).toEqual({ born: 80, refused: 0 });
    }),
  );

  itUnless(missing ?? (isRoot ? undefined : "needs control groups"))(
    "ends a program that takes too much memory, not the box",
    () =>
      withContext(async ({ runtime, makeBox }) => {
        const script = `const { spawnSync } = require("node:child_process"), fs = require("node:fs");
        const take = (mib) => spawnSync(process.execPath, ["-e", "Buffer.alloc(" + mib + "*1048576, 1)"]).signal;
        fs.writeFileSync("/workspace/taken", JSON.stringify({ little: take(20), much: take(600) }));
        setInterval(() => undefined, 1000);`;
        const resources = { memoryBytes: 256 * 2 ** 20, required: ["memory" as const] };
        const box = await makeBox("hungry", { script, resources });
        await runtime.start(box);
        expect(JSON.parse(await waitForFile(box, "taken", 30_000))).toEqual({
          little: null,
          much: "SIGKILL",
        });
        expect(await runtime.find("hungry")).toMatchObject({ phase: "running" });
      }),
  );

  const compiler = findCompiler();
  itUnless(missing ?? (compiler === undefined ? "there is no C compiler" : undefined))(
    "filters system calls",
    () =>
      withContext(async ({ runtime, makeBox }) => {
        const program = join(scratchDir, "calls");
        const compiled = await run([compiler!, "-O1", "-o", program, join(import.meta.dirname, "calls.c")]);
        expect(compiled.stderr).toBe("");
        // The control: outside of a box, this very program may do what it is refused inside.
        // SECURITY: as an ordinary user, because a control must not be able to change the host.
        await chmod(program, 0o755);
        const outside = JSON.parse((await run([program], subject().owner)).stdout) as Record<string, number>;
        const box = await makeBox("filtered", {
          script: `const { spawnSync } = require("node:child_process"), fs = require("node:fs");
          fs.writeFileSync("/workspace/calls", spawnSync("/home/agent/calls").stdout); setInterval(() => undefined, 1000);`,
        });
        await copyFile(program, join(box.dirs.home, "calls"));
        await chmod(join(box.dirs.home, "calls"), 0o755);
        await runtime.start(box);
        const inside = JSON.parse(await waitForFile(box, "calls")) as Record<string, number>;
        const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];
        for (const call of [
          "unshare_user",
          "clone_newuser",
          "mount",
          "bpf",
          "perf",
          "keyctl",
          "io_uring",
          "userfaultfd",
        ]) {
          expect(inside[call], call).toBe(EPERM);
        }
        expect(inside).toMatchObject({
          clone3: ENOSYS,
          future: ENOSYS,
          raw: EPERM,
          tiocsti: EPERM,
          tiocsti_high: EPERM,
        });
        expect(inside).toMatchObject({ tioclinux: EPERM, ptrace_attach: EPERM, personality: EPERM });
        for (const family of ["af_alg", "af_packet", "af_vsock", "af_key", "netlink_other"])
          expect(inside[family]).toBe(EAFNOSUPPORT);
        for (const call of ["tcp", "udp", "unix", "netlink_route", "fork", "ptrace_child"])
          expect(inside[call], call).toBe(0);
        // The kernel's own answer to a call without arguments, which only a filter can come before.
        expect(outside["mount"]).toBe(14);
        for (const call of ["unshare_user", "keyctl", "tcp", "fork", "ptrace_child", "personality"])
          expect(outside[call], call).toBe(0);
      }),
  );
});
