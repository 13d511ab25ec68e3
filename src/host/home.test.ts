import { chmod, chown, lchown, mkdir, mkdtemp, realpath, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openHome } from "./home.ts";

const uid = process.getuid!();
const isRoot = uid === 0;
const me = { isRoot, uid };
let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "ab-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe("openHome", () => {
  it("makes a home that a person's boxes need no way through", async () => {
    const home = await openHome(join(dir, "home"), { isRoot: false, uid });
    for (const path of [home.root, home.logs, home.boxes, home.tools]) expect(await modeOf(path)).toBe(0o700);
    expect(home.socket).toBe(join(dir, "home/daemon.sock"));
    expect(home.impassable).toBeUndefined();
  });

  it("lets the boxes of a root daemon pass, but not look", async () => {
    const home = await openHome(join(dir, "home"), { isRoot: true, uid });
    for (const path of [home.root, home.boxes, home.tools]) expect(await modeOf(path)).toBe(0o711);
    expect(await modeOf(home.logs)).toBe(0o700);
    expect(home.impassable).toBe(dir);
    await chmod(dir, 0o711);
    expect((await openHome(join(dir, "home"), { isRoot: true, uid })).impassable).toBeUndefined();
  });

  it("closes a home that others could read", async () => {
    await mkdir(join(dir, "home"), { mode: 0o755 });
    expect(await modeOf((await openHome(join(dir, "home"), { isRoot: false, uid })).root)).toBe(0o700);
  });

  it("refuses a home that cannot be made, at once", async () => {
    await expect(openHome("/proc/agentbox/home", me)).rejects.toMatchObject({ code: "home.unsafe" });
  });

  it("refuses a home that others can write", async () => {
    await mkdir(join(dir, "home"));
    for (const mode of [0o770, 0o702]) {
      await chmod(join(dir, "home"), mode);
      await expect(openHome(join(dir, "home"), me)).rejects.toMatchObject({ code: "home.unsafe" });
    }
    await chmod(join(dir, "home"), 0o700);
    await openHome(join(dir, "home"), me);
  });

  it("refuses a home below a directory that everybody can write, unless it is sticky", async () => {
    await chmod(dir, 0o777);
    await expect(openHome(join(dir, "home"), me)).rejects.toMatchObject({ code: "home.unsafe" });
    await chmod(dir, 0o1777);
    await openHome(join(dir, "home"), me);
  });

  it.skipIf(!isRoot)(
    "refuses somebody else's directory and somebody else's link (needs root for chown)",
    async () => {
      await mkdir(join(dir, "theirs"));
      await chown(join(dir, "theirs"), 1000, 1000);
      await expect(openHome(join(dir, "theirs"), me)).rejects.toMatchObject({ code: "home.unsafe" });
      await mkdir(join(dir, "mine"));
      await symlink("mine", join(dir, "link"));
      expect((await openHome(join(dir, "link"), me)).root).toBe(join(dir, "mine"));
      await lchown(join(dir, "link"), 1000, 1000);
      await expect(openHome(join(dir, "link"), me)).rejects.toMatchObject({ code: "home.unsafe" });
    },
  );

  it("refuses a home whose sockets would have addresses that are too long, and takes the longest that fits", async () => {
    // /boxes/<48>/link/link.sock is 70 bytes; 107 are allowed in all.
    const fitting = join(dir, "h".repeat(107 - 70 - dir.length - 1));
    await openHome(fitting, me);
    await expect(openHome(`${fitting}x`, me)).rejects.toMatchObject({
      code: "home.path_too_long",
      facts: { excessBytes: 1 },
    });
  });
});
