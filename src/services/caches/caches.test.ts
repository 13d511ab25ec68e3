import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { chown, lstat, mkdtemp, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { systemClock } from "../../host/clock.ts";
import { openCaches } from "./index.ts";

const isRoot = process.getuid!() === 0;
/** Under root every box has a user of its own; the archive is made with its rights. */
const owner = isRoot ? { uid: 64_123, gid: 64_123 } : { uid: process.getuid!(), gid: process.getgid!() };
const other = isRoot ? { uid: 64_124, gid: 64_124 } : owner;

describe("the package caches of a project", () => {
  let dir: string;
  let serial = 0;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "abx-caches-"));
    chmodSync(dir, 0o711);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const open = (maxBytes?: number) =>
    openCaches({
      dir: join(dir, `store-${++serial}`),
      isRoot,
      clock: systemClock,
      ...omitUndefined({ maxBytes }),
    });
  const homeWith = async (files: Readonly<Record<string, string>>, whose = owner): Promise<string> => {
    const home = join(dir, `home-${++serial}`);
    mkdirSync(home, { mode: 0o700 });
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), content);
    }
    const all = ["", ...(readdirSync(home, { recursive: true }) as string[])];
    for (const path of all) await chown(join(home, path), whose.uid, whose.gid);
    return home;
  };
  const read = (home: string, path: string): string => readFileSync(join(home, path), "utf8");

  it("come out for a new box as its own files, and settings, programs and credentials do not", async () => {
    const caches = open();
    const home = await homeWith({
      ".npm/_cacache/index-v5/one": "npm",
      ".npm/_npx/tool/run": "program",
      ".cache/pip/wheels/one": "pip",
      ".cargo/registry/cache/one": "cargo",
      ".cargo/bin/tool": "program",
      ".cargo/credentials.toml": "secret",
      "go/pkg/mod/m@v1/go.mod": "go",
      ".bash_history": "history",
    });
    // As go leaves it: nothing can be added to a module.
    chmodSync(join(home, "go/pkg/mod/m@v1"), 0o555);
    const saved = await caches.save({ projectDir: "/p", box: "one", home, owner });
    expect(saved).toMatchObject({
      projectDir: "/p",
      box: "one",
      paths: [".npm/_cacache", ".cache/pip", ".cargo/registry", "go/pkg/mod"],
    });
    expect(await caches.list()).toEqual([saved]);

    const fresh = await homeWith({}, other);
    expect(await caches.give({ projectDir: "/p", home: fresh, owner: other })).toEqual(saved);
    expect(read(fresh, ".npm/_cacache/index-v5/one")).toBe("npm");
    expect(read(fresh, "go/pkg/mod/m@v1/go.mod")).toBe("go");
    for (const path of readdirSync(fresh, { recursive: true }) as string[]) {
      expect((await lstat(join(fresh, path))).uid, path).toBe(other.uid);
    }
    expect(readdirSync(join(fresh, ".cargo"))).toEqual(["registry"]);
    expect(readdirSync(join(fresh, ".npm"))).toEqual(["_cacache"]);
    expect(readdirSync(fresh).sort()).toEqual([".cache", ".cargo", ".npm", "go"]);
  });

  it("are one project's alone, replaced as a whole, and gone when cleared", async () => {
    const caches = open();
    const give = async (projectDir: string) => {
      const home = await homeWith({}, other);
      await caches.give({ projectDir, home, owner: other });
      return readdirSync(home, { recursive: true }).filter((path) => (path as string).endsWith(".x"));
    };
    const save = async (path: string) =>
      caches.save({ projectDir: "/p", box: "one", home: await homeWith({ [path]: "x" }), owner });
    await save(".cache/pip/old.x");
    expect(await give("/p")).toEqual([".cache/pip/old.x"]);
    expect(await give("/p/")).toEqual([]);
    expect(await give("/q")).toEqual([]);
    await save(".cache/pip/new.x");
    expect(await give("/p")).toEqual([".cache/pip/new.x"]);
    expect(await caches.clear("/q")).toBe(false);
    expect(await caches.clear("/p")).toBe(true);
    expect(await give("/p")).toEqual([]);
    expect(await caches.list()).toEqual([]);
  });

  it("do not lead out of the box's home, whatever links it has planted", async () => {
    const caches = open();
    const outside = await homeWith({ "pip/theirs": "secret", "_cacache/theirs": "secret" });
    const home = await homeWith({ ".cargo/registry/own": "own" });
    symlinkSync(outside, join(home, ".cache"));
    mkdirSync(join(home, ".npm"));
    symlinkSync(join(outside, "_cacache"), join(home, ".npm/_cacache"));
    symlinkSync(join(outside, "pip/theirs"), join(home, ".cargo/registry/link"));
    const saved = await caches.save({ projectDir: "/p", box: "one", home, owner });
    expect(saved.paths).toEqual([".cargo/registry"]);
    const fresh = await homeWith({}, other);
    await caches.give({ projectDir: "/p", home: fresh, owner: other });
    expect(read(fresh, ".cargo/registry/own")).toBe("own");
    // A link stays a link: what it means is for the box to see, in which there is no such place.
    expect(await readlink(join(fresh, ".cargo/registry/link"))).toBe(join(outside, "pip/theirs"));
    expect(readdirSync(fresh)).toEqual([".cargo"]);
  });

  it("keep no right of their own: no set-user-id, nobody else's to read", async () => {
    const caches = open();
    const home = await homeWith({ ".cargo/registry/run": "#!/bin/sh\n" });
    chmodSync(join(home, ".cargo/registry/run"), 0o6777);
    await caches.save({ projectDir: "/p", box: "one", home, owner });
    const fresh = await homeWith({}, other);
    await caches.give({ projectDir: "/p", home: fresh, owner: other });
    expect(statSync(join(fresh, ".cargo/registry/run")).mode & 0o7000).toBe(0);
    const store = join(dir, `store-${serial - 2}`);
    expect(statSync(store).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(store)) expect(statSync(join(store, name)).mode & 0o777).toBe(0o600);
  });

  it("end at a limit, keep what was there before, and take holes for holes", async () => {
    const caches = open(4 << 20);
    const home = await homeWith({ ".cache/pip/small": "small", ".cache/pip/hole": "" });
    truncateSync(join(home, ".cache/pip/hole"), 2 ** 40);
    const saved = await caches.save({ projectDir: "/p", box: "one", home, owner });
    expect(saved.bytes).toBeLessThan(1 << 20);
    const large = await homeWith({ ".cache/pip/large": "x".repeat(8 << 20) });
    await expect(caches.save({ projectDir: "/p", box: "two", home: large, owner })).rejects.toMatchObject({
      code: "input.too_large",
    });
    expect(await caches.list()).toEqual([saved]);
    expect(readdirSync(join(dir, `store-${serial - 2}`)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("say so when there is nothing to keep, and when a copy cannot be made", async () => {
    const caches = open();
    await expect(
      caches.save({ projectDir: "/p", box: "one", home: await homeWith({ "a.txt": "a" }), owner }),
    ).rejects.toMatchObject({ code: "input.invalid" });
    const store = join(dir, `store-${serial - 1}`);
    await caches.save({ projectDir: "/p", box: "one", home: await homeWith({ ".cache/pip/a": "a" }), owner });
    const archive = readdirSync(store).find((name) => name.endsWith(".tar"))!;
    await writeFile(join(store, archive), "this is no archive");
    await expect(
      caches.give({ projectDir: "/p", home: await homeWith({}, other), owner: other }),
    ).rejects.toMatchObject({ code: "workspace.failed", hint: expect.stringContaining("cache clear") });
  });
});
