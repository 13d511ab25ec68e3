import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import memory from "../../src/drivers/store/memory/index.ts";
import sqlite from "../../src/drivers/store/sqlite/index.ts";
import { run } from "../../src/host/run.ts";
import { sampleBox, sampleEvent } from "../../src/ports/store-samples.ts";
import { storeCases } from "../../src/ports/store.conformance.ts";
import type { Store } from "../../src/ports/store.ts";
import { itUnless } from "../support/skipping.ts";

let dir: string;
let serial = 0;
const newPath = () => join(dir, `store-${++serial}.db`);
const isRoot = process.getuid?.() === 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "agentbox-store-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

for (const module of [memory, sqlite]) {
  describe(`store ${module.name}`, () => {
    for (const storeCase of storeCases) it(storeCase.name, () => storeCase.run(() => module.open(newPath())));
  });
}

/** A process of its own that commits as fast as it can and prints the number of each acknowledged event. */
async function startWriter(path: string, prefix: string): Promise<ChildProcess> {
  const file = join(dir, "writer.mjs");
  await build({
    stdin: {
      contents: `
        import sqlite from "./src/drivers/store/sqlite/index.ts";
        import { sampleBox, sampleEvent } from "./src/ports/store-samples.ts";
        const [path, prefix] = process.argv.slice(2);
        const store = await sqlite.open(path);
        const { writeSync } = await import("node:fs");
        for (let i = 0; i < 100_000; i++) {
          const name = prefix + "-" + i;
          const commit = () => store.commit({ insert: sampleBox(name), events: [sampleEvent("box.created", name)] });
          let events;
          while (!events) {
            events = await commit().catch((error) => { if (error.code !== "store.locked") throw error; });
          }
          writeSync(1, name + " " + events[0].id + "\\n");
        }`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile: file,
    plugins: [
      {
        name: "libsql-from-here",
        setup: (bundle) =>
          bundle.onResolve({ filter: /^libsql$/ }, () => ({
            path: createRequire(import.meta.url).resolve("libsql"),
            external: true,
          })),
      },
    ],
    logLevel: "error",
  });
  return spawn(process.execPath, [file, path, prefix], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Reads acknowledgements until there are `count`, then kills the process without warning. */
async function killAfter(child: ChildProcess, count: number): Promise<Map<string, number>> {
  const acknowledged = new Map<string, number>();
  for await (const line of createInterface({ input: child.stdout! })) {
    const [name, id] = line.split(" ");
    acknowledged.set(name!, Number(id));
    if (acknowledged.size === count) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  // Otherwise the writer failed, and what follows would prove nothing.
  expect(acknowledged.size).toBeGreaterThanOrEqual(count);
  return acknowledged;
}

async function expectComplete(store: Store, acknowledged: Map<string, number>): Promise<void> {
  const events = await store.listEvents({ limit: 1_000_000 });
  expect(events.map((event) => event.id)).toEqual(events.map((_, i) => i + 1));
  const names = new Set((await store.listBoxes()).map((box) => box.name));
  for (const [name, id] of acknowledged) {
    expect(names.has(name)).toBe(true);
    expect(events[id - 1]).toMatchObject({ box: name });
  }
  expect(names.size).toBe(events.length);
}

describe("store sqlite, as a file", () => {
  it("keeps everything when it is opened again", async () => {
    const path = newPath();
    {
      await using store = await sqlite.open(path);
      await store.commit({ insert: sampleBox("one"), events: [sampleEvent("box.created", "one")] });
    }
    await using again = await sqlite.open(path);
    expect(await again.findBox("one")).toEqual(sampleBox("one"));
    expect(await again.lastEventId()).toBe(1);
  });

  it("loses no acknowledged commit when the process is killed in a burst", async () => {
    const path = newPath();
    for (const round of ["a", "b", "c"]) {
      const acknowledged = await killAfter(await startWriter(path, round), 150);
      await using store = await sqlite.open(path);
      await expectComplete(store, acknowledged);
    }
  });

  it("two processes on one file never give a number twice and lose nothing", async () => {
    const path = newPath();
    await (await sqlite.open(path))[Symbol.asyncDispose]();
    const writers = [await startWriter(path, "left"), await startWriter(path, "right")];
    const [left, right] = await Promise.all(writers.map((child) => killAfter(child, 100)));
    await using store = await sqlite.open(path);
    await expectComplete(store, new Map([...left!, ...right!]));
  });

  it("answers store.locked when another process holds the file", async () => {
    const path = newPath();
    await using store = await sqlite.open(path);
    const other = new Database(path);
    other.exec("BEGIN IMMEDIATE");
    const change = { events: [sampleEvent("daemon.started")] };
    await expect(store.commit(change)).rejects.toMatchObject({ code: "store.locked" });
    other.exec("ROLLBACK");
    other.close();
    expect(await store.commit(change)).toMatchObject([{ id: 1 }]);
  });

  it("is readable by its owner only, with all its side files", async () => {
    const path = newPath();
    await using store = await sqlite.open(path);
    await store.commit({ events: [sampleEvent("daemon.started")] });
    for (const file of [path, `${path}-wal`, `${path}-shm`])
      expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("does not let events be changed or deleted, not even by hand", async () => {
    const path = newPath();
    await using store = await sqlite.open(path);
    await store.commit({ events: [sampleEvent("daemon.started")] });
    const hand = new Database(path);
    expect(() => hand.exec("UPDATE events SET type = 'x'")).toThrow("append-only");
    expect(() => hand.exec("DELETE FROM events")).toThrow("append-only");
    hand.exec("INSERT INTO events (at_ms, type, data) VALUES (1, 'daemon.stopped', '{}')");
    hand.close();
    expect(await store.lastEventId()).toBe(2);
  });

  it("lists 1000 boxes in a few milliseconds", async () => {
    await using store = await sqlite.open(newPath());
    for (let i = 0; i < 1000; i++) await store.commit({ insert: sampleBox(`box-${i}`), events: [] });
    await store.listBoxes();
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const start = performance.now();
      expect(await store.listBoxes()).toHaveLength(1000);
      times.push(performance.now() - start);
    }
    expect(Math.min(...times)).toBeLessThan(10);
  });
});

describe("store sqlite, with files that are not its own", () => {
  it("refuses a store of a newer version and leaves it as it is", async () => {
    const path = newPath();
    await (await sqlite.open(path))[Symbol.asyncDispose]();
    const hand = new Database(path);
    hand.exec("PRAGMA user_version = 999");
    hand.close();
    await expect(sqlite.open(path)).rejects.toMatchObject({ code: "store.too_new" });
  });

  it("refuses a file that is no database, somebody else's database, and a damaged one", async () => {
    const text = newPath();
    await writeFile(text, "not a database, but long enough to look like one\n".repeat(100));
    const foreign = newPath();
    const hand = new Database(foreign);
    hand.exec("CREATE TABLE theirs (x)");
    hand.close();
    const damaged = newPath();
    await (await sqlite.open(damaged))[Symbol.asyncDispose]();
    await writeFile(damaged, Buffer.alloc(8192, 0xff), { flag: "r+" });
    for (const path of [text, foreign, damaged]) {
      await expect(sqlite.open(path)).rejects.toMatchObject({
        code: "store.failed",
        hint: expect.any(String),
      });
    }
    const missing = join(dir, "no-such-directory", "state.db");
    await expect(sqlite.open(missing)).rejects.toMatchObject({ code: "store.failed" });
  });

  itUnless(isRoot ? undefined : "needs root for a tmpfs")(
    "a full disk is store.disk_full and loses nothing",
    async () => {
      const mount = await mkdtemp(join(dir, "full-"));
      expect((await run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", mount])).code).toBe(0);
      try {
        const path = join(mount, "state.db");
        let acknowledged = 0;
        {
          await using store = await sqlite.open(path);
          const fill = async () => {
            for (let i = 0; i < 10_000; i++) {
              await store.commit({ events: [sampleEvent("exec.ended", "one", { text: "x".repeat(1_000) })] });
              acknowledged++;
            }
          };
          await expect(fill()).rejects.toMatchObject({ code: "store.disk_full" });
          expect(acknowledged).toBeGreaterThan(10);
          expect(await store.lastEventId()).toBe(acknowledged);
          expect((await run(["mount", "-o", "remount,size=4m", mount])).code).toBe(0);
          await store.commit({ events: [sampleEvent("daemon.stopped")] });
        }
        await using again = await sqlite.open(path);
        expect(await again.lastEventId()).toBe(acknowledged + 1);
      } finally {
        await run(["umount", "--lazy", mount]);
      }
    },
  );
});
