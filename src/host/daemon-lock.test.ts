import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { acquireDaemonLock, findDaemonPid } from "./daemon-lock.ts";
import { homePaths } from "./home.ts";

let dir: string;
let script: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "ab-lock-"));
  script = join(dir, "starter.mjs");
  const contents = `
    import { spawn } from "node:child_process";
    import { acquireDaemonLock } from "./src/host/daemon-lock.ts";
    import { homePaths } from "./src/host/home.ts";
    try {
      await acquireDaemonLock(homePaths(process.argv[2]));
      // A box that outlives the daemon must not keep its lock.
      const box = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
      console.log("won " + box.pid);
      setInterval(() => {}, 1000);
    } catch (error) {
      console.log("lost " + error.code);
    }`;
  const stdin = { contents, resolveDir: process.cwd() };
  await build({
    stdin,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile: script,
    logLevel: "error",
  });
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await rm(dir, { recursive: true, force: true });
});

async function start(): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [script, dir], { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, said: line };
}

it("of twenty that start at once exactly one wins, and kill -9 frees the lock at once", async () => {
  for (let round = 0; round < 2; round++) {
    const results = await Promise.all(Array.from({ length: 20 }, start));
    const winners = results.filter(({ said }) => said.startsWith("won"));
    expect(winners).toHaveLength(1);
    expect(results.filter(({ said }) => said === "lost daemon.already_running")).toHaveLength(19);
    const [{ child, said }] = winners as [{ child: ChildProcess; said: string }];
    expect(await findDaemonPid(homePaths(dir))).toBe(child.pid);
    await expect(acquireDaemonLock(homePaths(dir))).rejects.toMatchObject({ facts: { pid: child.pid } });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await findDaemonPid(homePaths(dir))).toBeUndefined();
    const boxPid = Number(said.split(" ")[1]);
    expect(process.kill(boxPid, 0)).toBe(true);
    await (await acquireDaemonLock(homePaths(dir)))[Symbol.asyncDispose]();
    process.kill(boxPid, "SIGKILL");
  }
});
