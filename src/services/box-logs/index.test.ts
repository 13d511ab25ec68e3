import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBoxLogs } from "./index.ts";

describe("box logs", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "abx-logs-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));
  const open = () => openBoxLogs((box) => join(dir, box));
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
  const bytes = (value: string) => Buffer.from(value);

  it("goes on after a restart of the daemon where it ended", async () => {
    await open().append("a-box", "main", 0, bytes("one\n"));
    const later = open();
    expect(await later.recordedBytes("a-box", "main")).toBe(4);
    await later.append("a-box", "main", 4, bytes("two\n"));
    expect(text(await later.read("a-box", "main", {}))).toBe("one\ntwo\n");
  });

  it("counts a new run from zero and keeps what the earlier one printed", async () => {
    await open().append("a-box", "main", 0, bytes("old\n"));
    const logs = open();
    await logs.startRun("a-box");
    expect(await logs.recordedBytes("a-box", "main")).toBe(0);
    await logs.append("a-box", "main", 0, bytes("new\n"));
    expect(text(await logs.read("a-box", "main", {}))).toBe("old\nnew\n");
  });

  it("keeps no more of all sources together than it may: the oldest go", async () => {
    const logs = open();
    logs.setLimit("a-box", 3 << 20);
    const piece = Buffer.alloc(1 << 20, "x");
    await logs.append("a-box", "first", 0, piece);
    for (let n = 0; n < 20; n += 1) await logs.append("a-box", `session-${n}`, 0, piece);
    const sizes = await Promise.all(
      (await readdir(join(dir, "a-box"))).map(async (name) => (await stat(join(dir, "a-box", name))).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(5 << 20);
    expect((await logs.read("a-box", "first", {})).length).toBe(0);
    expect((await logs.read("a-box", "session-19", {})).length).toBe(1 << 20);
  });

  it("knows the sessions of a run, also after a restart of the daemon, and none of the run before", async () => {
    const logs = open();
    await logs.addSource("a-box", "one");
    await logs.addSource("a-box", "two");
    await logs.addSource("a-box", "one");
    expect(await open().sources("a-box")).toEqual(["two", "one"]);
    await logs.startRun("a-box");
    expect(await open().sources("a-box")).toEqual([]);
  });

  it("gives the last lines", async () => {
    const logs = open();
    await logs.append("a-box", "main", 0, bytes("1\n2\n3\n"));
    expect(text(await logs.read("a-box", "main", { tailLines: 2 }))).toBe("2\n3\n");
    expect(text(await logs.read("a-box", "main", { tailLines: 9 }))).toBe("1\n2\n3\n");
    expect(text(await logs.read("a-box", "main", { tailLines: 0 }))).toBe("");
  });

  it("writes nothing of a removed box once it is forgotten, until a box of its name starts", async () => {
    const logs = open();
    await logs.append("a-box", "main", 0, bytes("0"));
    let isSettled = false;
    const begun = logs.append("a-box", "main", 1, bytes("1")).then(() => (isSettled = true));
    await logs.forget("a-box");
    expect(isSettled).toBe(true);
    await rm(join(dir, "a-box"), { recursive: true });
    await Promise.all([begun, logs.append("a-box", "main", 2, bytes("2")), logs.addSource("a-box", "s")]);
    expect(await readdir(dir)).toEqual([]);
    await logs.startRun("a-box");
    await logs.append("a-box", "main", 0, bytes("new"));
    expect(text(await logs.read("a-box", "main", {}))).toBe("new");
  });

  it("marks what was not recorded", async () => {
    const logs = open();
    await logs.append("a-box", "main", 10, bytes("late"));
    expect(text(await logs.read("a-box", "main", {}))).toContain("10 bytes were not recorded");
  });

  it("bounds a flood", async () => {
    const logs = open();
    const chunk = Buffer.alloc(1 << 20, "x");
    for (let n = 0; n < 20; n++) await logs.append("a-box", "main", n << 20, chunk);
    expect((await logs.read("a-box", "main", {})).length).toBeLessThanOrEqual(8 << 20);
  });

  it("follows without a hole or a double", async () => {
    const logs = open();
    const seen: string[] = [];
    const appends = Array.from({ length: 50 }, (_, n) =>
      logs.append("a-box", "main", n, bytes(String(n % 10))),
    );
    const { kept, stop } = await logs.follow("a-box", "main", {}, (chunk) => seen.push(text(chunk)));
    await Promise.all(appends);
    await logs.append("a-box", "main", 50, bytes("!"));
    stop();
    await logs.append("a-box", "main", 51, bytes("after"));
    expect(text(kept) + seen.join("")).toBe(`${"0123456789".repeat(5)}!`);
  });
});
