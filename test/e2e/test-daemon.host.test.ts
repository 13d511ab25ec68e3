import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { leftovers, withDaemon } from "../support/daemon.ts";
import { isRoot, ordinaryUser, whyNoBubblewrap } from "../support/host-facts.ts";

/** Everything else rests on this fixture: that it starts the built program, and that it leaves nothing behind. */
describe.each([
  { who: "this user", user: undefined },
  { who: "an ordinary user", user: ordinaryUser },
])("a test daemon of $who", ({ user }) => {
  it("runs a box, survives a crash, and leaves no process and no file", async (ctx) => {
    if (user && !isRoot) ctx.skip("only root can run the daemon as somebody else");
    const missing = await whyNoBubblewrap(user);
    if (missing) ctx.skip(missing);

    const home = await withDaemon(
      async (daemon) => {
        const uid = await daemon.cli(["run", "shell", "--name", "fixture-one", "--", "id", "-u"]);
        expect(uid).toMatchObject({ code: 0, stdout: "1000\n" });
        await daemon.client.createBox({ name: "fixture-two", flags: { workspace: { mode: "empty" } } });
        expect(leftovers(daemon.home).length).toBeGreaterThan(1);
        const before = daemon.pid;
        await daemon.kill();
        await daemon.start();
        expect(daemon.pid).not.toBe(before);
        expect((await daemon.client.listBoxes()).map((box) => box.name)).toContain("fixture-two");
        return daemon.home;
      },
      user ? { user } : {},
    );
    expect(leftovers(home)).toEqual([]);
    expect(existsSync(home)).toBe(false);
  });
});
