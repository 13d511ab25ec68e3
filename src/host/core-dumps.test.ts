import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "./run.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "abx-dumps-"));
  const contents = `
    import { readFileSync } from "node:fs";
    import { forbidCoreDumps } from "./src/host/core-dumps.ts";
    if (process.argv[2] === "forbid") await forbidCoreDumps();
    console.log(/^Max core file size +(\\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))[1]);
    process.abort();`;
  await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile: join(dir, "crash.mjs"),
    logLevel: "error",
  });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A process that would be dumped, in a directory of its own. */
async function crash(how: string) {
  const cwd = await mkdtemp(join(dir, "crash-"));
  const { stdout, signal, code } = await run(
    ["prlimit", "--core=unlimited", process.execPath, join(dir, "crash.mjs"), how],
    { cwd },
  );
  return { limit: stdout.trim(), hasCrashed: signal === "SIGABRT" || code === 134, left: await readdir(cwd) };
}

describe("crash dumps", () => {
  it("are not written once they are forbidden, and are before", async () => {
    const pattern = (await readFile("/proc/sys/kernel/core_pattern", "utf8")).trim();
    const control = await crash("allow");
    expect(control).toMatchObject({ limit: "unlimited", hasCrashed: true });
    // Where the host sends dumps elsewhere the limit is all there is to see.
    if (!/[/|@]/.test(pattern)) expect(control.left).not.toEqual([]);
    expect(await crash("forbid")).toEqual({ limit: "1", hasCrashed: true, left: [] });
  });
});
