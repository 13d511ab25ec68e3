import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { run, runOk } from "../../host/run.ts";
import { openStorage } from "./index.ts";
import { mountsBelow } from "./mount-table.ts";

const isRoot = process.getuid!() === 0;
const owner = isRoot ? { uid: 54_321, gid: 54_321 } : { uid: process.getuid!(), gid: process.getgid!() };
let dir: string;
let boxesDir: string;

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "ab-storage-")));
  await chmod(dir, 0o711);
  boxesDir = join(dir, "boxes");
});
afterEach(async () => {
  for (const point of await mountsBelow(dir)) await run(["umount", "--lazy", point]);
  await rm(dir, { recursive: true, force: true });
});

const facts = async (path: string) => {
  const { mode, uid } = await stat(path);
  return { mode: (mode & 0o7777).toString(8), uid };
};
const whyNotRoot = isRoot ? "" : " (needs root)";

describe("storage", () => {
  it("gives each directory its owner and mode", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    const dirs = await storage.create("team-app", { owner });
    const me = process.getuid!();
    expect(await facts(join(boxesDir, "team-app"))).toEqual({ mode: isRoot ? "711" : "700", uid: me });
    expect(await facts(dirs.runtime)).toEqual({ mode: "700", uid: me });
    expect(await facts(dirs.link)).toEqual({ mode: isRoot ? "711" : "700", uid: me });
    for (const path of [dirs.home, dirs.workspace])
      expect(await facts(path)).toEqual({ mode: "700", uid: owner.uid });
    expect(dirs).toEqual(storage.dirs("team-app"));
    await storage.ensure("team-app", {});
    expect(await storage.freeBytes()).toBeGreaterThan(0);
  });

  it("cleans what a crashed attempt has left of the same name, and lists half-made boxes", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    await mkdir(join(boxesDir, "half/data/workspace"), { recursive: true });
    await writeFile(join(boxesDir, "half/data/workspace/old"), "old");
    await mkdir(join(boxesDir, ".not-a-box"));
    expect(await storage.list()).toEqual(["half"]);
    const { workspace } = await storage.create("half", { owner });
    expect(await readdir(workspace)).toEqual([]);
    await storage.remove("half");
    await storage.remove("half");
    expect(await storage.list()).toEqual([]);
  });

  it("turns nothing but box names into paths", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    await writeFile(join(dir, "victim"), "x");
    const bad = fc.oneof(
      fc.constantFrom("../victim", "..", ".", "", "a/../..", "A", "-x", "a\0", "a--b"),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(bad, async (name) => {
        fc.pre(!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length < 2 || name.length > 48);
        expect(() => storage.dirs(name)).toThrow(expect.objectContaining({ code: "box.name_invalid" }));
        await expect(storage.remove(name)).rejects.toMatchObject({ code: "box.name_invalid" });
        await expect(storage.create(name, { owner })).rejects.toMatchObject({ code: "box.name_invalid" });
      }),
    );
    expect(await readFile(join(dir, "victim"), "utf8")).toBe("x");
  });

  it("keeps the review repository of a removed box for the daemon alone, once", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    await storage.create("done", { owner });
    expect(await storage.keepReview("done", "life-1")).toBe(false);
    await mkdir(storage.reviewDir("done"));
    await writeFile(join(storage.reviewDir("done"), "HEAD"), "x");
    expect(await storage.keepReview("done", "life-1")).toBe(true);
    expect(await storage.keepReview("done", "life-1")).toBe(true);
    await storage.remove("done");
    expect(await storage.listKept()).toEqual(["life-1"]);
    expect(await facts(join(dir, "removed"))).toEqual({ mode: "700", uid: process.getuid!() });
    await storage.create("again", { owner });
    await storage.giveReview("life-1", "again");
    expect(await readFile(join(storage.reviewDir("again"), "HEAD"), "utf8")).toBe("x");
    expect(await storage.listKept()).toEqual([]);
    for (const id of ["..", "../boxes", "", "a/b", "-x"])
      expect(() => storage.keptReviewDir(id), id).toThrow(expect.objectContaining({ code: "box.not_found" }));
  });

  it("removes a hostile tree, and nothing outside it", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    const { workspace, home } = await storage.create("hostile", { owner });
    const outside = join(dir, "outside");
    await mkdir(join(outside, "deep"), { recursive: true });
    await writeFile(join(outside, "deep/file"), "kept", { mode: 0o640 });
    await symlink(outside, join(workspace, "link"));
    await symlink("/", join(home, "root"));
    // On some file systems, directories and empty files take no blocks.
    await writeFile(join(workspace, "-rf"), "x".repeat(8192));
    await writeFile(join(workspace, "new\nline \x1b[2J"), "");
    await mkdir(join(workspace, "closed/inner"), { recursive: true });
    await writeFile(join(workspace, "closed/inner/file"), "");
    await chmod(join(workspace, "closed/inner"), 0);
    await chmod(join(workspace, "closed"), 0);
    // Deeper than a path can be written: 3000 levels of a name of 20.
    const script = `process.chdir(process.argv[1]); const name = "d".repeat(20);
      for (let i = 0; i < 3000; i++) { fs.mkdirSync(name); process.chdir(name); }`;
    await runOk([process.execPath, "-e", script, workspace]);
    expect(await storage.usage("hostile")).toBeGreaterThan(4096);
    await storage.remove("hostile");
    expect(await storage.list()).toEqual([]);
    expect(await readFile(join(outside, "deep/file"), "utf8")).toBe("kept");
    expect((await lstat(join(outside, "deep/file"))).mode & 0o777).toBe(0o640);
  });

  it.skipIf(!isRoot)(`removes what a person's own box has closed to them${whyNotRoot}`, async () => {
    // As an ordinary user: root opens every directory and would prove nothing.
    const person = { uid: 1000, gid: 1000 };
    const tree = join(dir, "person/tree");
    await runOk(["install", "-d", "-o", "1000", "-g", "1000", join(dir, "person")]);
    const close = 'mkdir -p "$1/a/b/c" && touch "$1/a/b/c/f" && chmod 0 "$1/a/b/c" "$1/a/b" "$1/a"';
    await runOk(["sh", "-c", close, "sh", tree], person);
    // The control: plain removal by the same user fails.
    expect((await run(["rm", "-rf", tree], person)).code).not.toBe(0);
    const contents = `import { removeBoxTree } from "./remove-box-tree.ts"; removeBoxTree(process.argv[1]);`;
    const stdin = { contents, resolveDir: import.meta.dirname };
    const { outputFiles } = await build({
      stdin,
      bundle: true,
      platform: "node",
      target: "node20",
      write: false,
    });
    await runOk([process.execPath, "-e", outputFiles[0]!.text, tree], person);
    expect(await readdir(join(dir, "person"))).toEqual([]);
  });

  it("counts what is used without following links", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    const { workspace, home } = await storage.create("counted", { owner });
    await writeFile(join(dir, "big"), Buffer.alloc(8 << 20, 1));
    await symlink(join(dir, "big"), join(workspace, "big"));
    const before = await storage.usage("counted");
    await writeFile(join(home, "mine"), Buffer.alloc(1 << 20, 1));
    expect((await storage.usage("counted")) - before).toBe(1 << 20);
    expect(before).toBeLessThan(1 << 20);
  });

  it("counts each part of a box, and what boxes share, by itself", async () => {
    const shared = { tools: [join(dir, "tools")], records: [join(dir, "state"), join(dir, "state-wal")] };
    const storage = await openStorage({ boxesDir, isRoot, shared });
    const { home } = await storage.create("parts", { owner });
    await writeFile(join(dir, "big"), Buffer.alloc(8 << 20, 1));
    await symlink(join(dir, "big"), join(home, "big"));
    const empty = await storage.measure("parts", { timeoutMs: 10_000 });
    expect(empty).toMatchObject({ logs: 0, review: 0 });
    await writeFile(join(home, "mine"), Buffer.alloc(1 << 20, 1));
    await mkdir(join(boxesDir, "parts/logs"));
    await writeFile(join(boxesDir, "parts/logs/main"), Buffer.alloc(2 << 20, 1));
    const counted = await storage.measure("parts", { timeoutMs: 10_000 });
    expect(counted.home! - empty.home!).toBe(1 << 20);
    expect([empty.caches, counted.caches]).toEqual([0, 0]);
    await mkdir(join(home, ".npm"));
    await writeFile(join(home, ".npm/fetched"), Buffer.alloc(1 << 20, 1));
    await symlink(dir, join(home, ".cargo"));
    const cached = await storage.measure("parts", { timeoutMs: 10_000 });
    expect(cached.caches! - (1 << 20)).toBeLessThan(64 << 10);
    expect(cached.home! - counted.home!).toBeGreaterThanOrEqual(1 << 20);
    expect(cached.home! - counted.home!).toBeLessThan(2 << 20);
    expect(counted.workspace).toBe(empty.workspace);
    expect(counted.logs).toBeGreaterThanOrEqual(2 << 20);

    await writeFile(join(dir, "state"), Buffer.alloc(1 << 20, 1));
    const found = await storage.measureShared({ timeoutMs: 10_000 });
    expect(found).toEqual({ tools: 0, records: 1 << 20 });
  });

  it("gives up counting in time, and says so", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    const { home } = await storage.create("endless", { owner });
    await runOk(["sh", "-c", "seq 20000 | xargs touch"], { cwd: home });
    // On some file systems, empty files take no blocks.
    await writeFile(join(home, "content"), "x");
    expect((await storage.measure("endless", { timeoutMs: 30_000 })).home).toBeGreaterThan(0);
    // On a busy machine the time-out may come late, and the count be done.
    await vi.waitFor(async () => {
      expect((await storage.measure("endless", { timeoutMs: 1 })).home).toBeUndefined();
    }, 10_000);
  });
});

describe.skipIf(!isRoot)(`disk limit${whyNotRoot}`, () => {
  it("stops a box at its size, survives a restart of the host, and goes with the box", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    expect(await storage.diskLimit()).toMatchObject({ canEnforce: true });
    const plain = storage.dirs("limited");
    const dirs = await storage.create("limited", { owner, diskBytes: 32 << 20 });
    expect(dirs).toEqual(plain);
    expect(await facts(dirs.workspace)).toEqual({ mode: "700", uid: owner.uid });
    const fill = (mebibytes: number) =>
      run(["dd", "if=/dev/zero", `of=${dirs.workspace}/fill`, "bs=1M", `count=${mebibytes}`], owner);
    // The control: what fits is written, and by the box's own user.
    expect((await fill(16)).code).toBe(0);
    expect(await storage.usage("limited")).toBeGreaterThan(16 << 20);
    const full = await fill(64);
    expect(full.code).not.toBe(0);
    expect(full.stderr).toContain("No space left");
    await writeFile(join(dirs.home, "kept"), "kept").catch(() => undefined);
    await runOk(["truncate", "-s", "0", join(dirs.workspace, "fill")]);
    await writeFile(join(dirs.home, "kept"), "kept");
    await runOk(["umount", join(boxesDir, "limited/data")]);
    await storage.ensure("limited", { diskBytes: 32 << 20 });
    await storage.ensure("limited", { diskBytes: 32 << 20 });
    expect(await readFile(join(dirs.home, "kept"), "utf8")).toBe("kept");
    const options = (await runOk(["findmnt", "-no", "OPTIONS", join(boxesDir, "limited/data")])).stdout;
    expect(options).toMatch(/nosuid/);
    expect(options).toMatch(/nodev/);
    await storage.remove("limited");
    expect(await mountsBelow(boxesDir)).toEqual([]);
    // A box that starts at this moment has a copy of every mount until it has its own root.
    const devices = async () => (await runOk(["losetup", "-a"])).stdout.includes(`${boxesDir}/`);
    await expect.poll(devices, { timeout: 5_000 }).toBe(false);
    expect(await storage.list()).toEqual([]);
  });

  it("removes a disk that is still in use, and several are made at once", async () => {
    const storage = await openStorage({ boxesDir, isRoot });
    const names = Array.from({ length: 6 }, (_, i) => `many-${i}`);
    await Promise.all(names.map((name) => storage.create(name, { owner, diskBytes: 16 << 20 })));
    expect(await mountsBelow(boxesDir)).toHaveLength(6);
    const busy = await open(join(storage.dirs("many-0").home, "busy"), "w");
    await Promise.all(names.map((name) => storage.remove(name)));
    expect(await mountsBelow(boxesDir)).toEqual([]);
    expect(await storage.list()).toEqual([]);
    await busy.close();
  });

  it("is refused where it cannot be enforced, and when it is absurd", async () => {
    const asPerson = await openStorage({ boxesDir, isRoot: false });
    expect(await asPerson.diskLimit()).toEqual({ canEnforce: false, by: expect.stringContaining("root") });
    const attempt = asPerson.create("small", { owner, diskBytes: 32 << 20 });
    await expect(attempt).rejects.toMatchObject({ code: "policy.unenforceable" });
    const asRoot = await openStorage({ boxesDir, isRoot });
    await expect(asRoot.create("small", { owner, diskBytes: 1000 })).rejects.toMatchObject({
      code: "input.invalid",
    });
    expect(await asRoot.list()).toEqual([]);
  });
});
