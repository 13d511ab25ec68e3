import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Vault } from "../../ports/vault.ts";
import { openTestVault } from "./vault.fixture.ts";

let dir: string;
let script: string;

/** `add DIR PREFIX COUNT`, or one change with a death before a step of it: `die DIR STEP CHANGE`. */
const contents = `
  import { openVault } from "./src/services/vault/index.ts";
  const [what, dir, word, more] = process.argv.slice(2);
  let isDying = false;
  const clock = { nowMs: () => 1_000_000, monotonicMs: () => 0, after: () => () => {} };
  const beforeStep = (step) => isDying && step === word && process.kill(process.pid, "SIGKILL");
  const vault = openVault({ dir, clock, env: {}, beforeStep, scryptCost: 2 ** 10 });
  const text = { kind: "text", source: { kind: "stored" } };
  if (what === "add") {
    for (let i = 0; i < Number(more); i++) {
      await vault.add({ ...text, name: word + "-" + i, value: Buffer.from("value-" + i) });
    }
  } else {
    isDying = true;
    if (more === "rotate") await vault.rotate("one", Buffer.from("newer"), 1_000);
    if (more === "remove") await vault.remove("one");
    if (more === "rekey") await vault.rekey({ to: "keyfile" });
  }
  console.log("done");`;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "abx-writers-"));
  script = join(dir, "writer.mjs");
  await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile: script,
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: "error",
  });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const start = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [script, ...args], { stdio: ["ignore", "ignore", "inherit"] });

async function endOf(child: ChildProcess): Promise<number | string | null> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  return code ?? signal;
}

const addMany = (vault: Vault, prefix: string, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      vault.add({
        name: `${prefix}-${i}`,
        kind: "text",
        source: { kind: "stored" },
        value: Buffer.from(`value-${i}`),
      }),
    ),
  );

describe("two writers", () => {
  it("in one process and in another lose nothing of each other", async () => {
    await using test = await openTestVault();
    const child = start("add", test.dir, "third", "25");
    await Promise.all([addMany(test.vault, "first", 25), addMany(test.reopen(), "second", 25), endOf(child)]);
    const reader = test.reopen();
    const names = (await reader.list()).map(({ name }) => name);
    expect(names).toHaveLength(75);
    for (const name of names) expect(await test.textOf(name, reader)).toBe(`value-${name.split("-")[1]}`);
    const { generation } = JSON.parse(await readFile(join(test.dir, "vault.json"), "utf8"));
    expect(generation).toBe(75);
    // The first write of all was made once, with one key.
    expect((await readdir(test.dir)).filter((name) => name.endsWith(".key"))).toHaveLength(1);
  }, 60_000);

  it("of the same name: one has it, the other is told", async () => {
    await using test = await openTestVault();
    const outcomes = await Promise.allSettled([
      addMany(test.vault, "same", 1),
      addMany(test.reopen(), "same", 1),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "secret.exists" },
    });
  });
});

describe("a writer that is killed", () => {
  it.each(["rotate", "remove", "rekey"])(
    "in a %s, before any step, leaves the old or the new",
    async (change) => {
      for (const step of ["stage", "keep", "place", "forget", "tidy"]) {
        await using test = await openTestVault();
        await test.addText("one", "value");
        await test.addText("two", "other");
        const isReached = change === "rekey" ? step !== "tidy" : step !== "forget" || change === "remove";
        expect(await endOf(start("die", test.dir, step, change))).toBe(isReached ? "SIGKILL" : 0);
        const isDone = step === "forget" || step === "tidy";
        const vault = test.reopen();
        const found = await vault.find("one");
        if (change === "remove" && isDone) expect(found).toBeUndefined();
        else expect(await test.textOf("one", vault)).toBe(change === "rotate" && isDone ? "newer" : "value");
        expect(await test.textOf("two", vault)).toBe("other");
        // The next change sweeps up what was left, and the one after finds everything in order.
        await vault.rotate("two", Buffer.from("another"), 0);
        expect(await test.textOf("two", test.reopen())).toBe("another");
        const names = await readdir(test.dir);
        expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
        if (isDone) expect(names.filter((name) => name.endsWith(".key"))).toHaveLength(1);
        expect(test.warnings).toEqual([]);
      }
    },
    60_000,
  );
});
