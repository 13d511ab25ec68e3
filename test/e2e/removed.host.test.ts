/** Removing boxes: unmerged work is not lost without a yes, and what was removed comes back. */
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RemovedBox } from "../../src/contract/review/removed.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { onPty } from "../support/pty.ts";
import { type Project, codeOf, makeProject, merge, runIn, worked, working } from "../support/review.ts";

let daemon: TestDaemon;
let project: Project;
beforeAll(async () => {
  daemon = await startDaemon();
  project = await makeProject(daemon);
});
afterAll(() => daemon?.[Symbol.asyncDispose]());

const names = async () => (await daemon.client.listBoxes()).map(({ name }) => name);
const workOf = async (box: string) =>
  (await daemon.client.listBoxes()).find(({ name }) => name === box)?.work;
const removed = async () => (await daemon.json<{ removed: RemovedBox[] }>(["restore"])).removed;
const removedNamed = async (box: string) => (await removed()).find(({ name }) => name === box);
const rm = (...args: string[]) => daemon.cli(["rm", ...args]);

describe("a box without work of its own", () => {
  it("is removed at once, and leaves nothing", async () => {
    await worked(daemon, project, "idle", "true");
    expect(await rm("idle")).toMatchObject({ code: 0, stdout: "removed idle\n" });
    expect(await removedNamed("idle")).toBeUndefined();
  });
});

describe("unmerged work", () => {
  it("is not removed without a terminal, by any command, and is named", async () => {
    await worked(
      daemon,
      project,
      "busy",
      "echo one > a.txt; git add a.txt; git commit -qm one; echo two > b.txt",
    );
    const refused = await rm("busy", "--json");
    expect(refused.code).toBe(5);
    expect(codeOf(refused)).toBe("review.unmerged");
    expect(refused.stdout + refused.stderr).toContain(
      '"busy\\" has unmerged work: 2 files, +2 -0, 1 commit.',
    );
    expect(codeOf(await daemon.cli(["discard", "busy"]))).toBe("review.unmerged");
    const pruned = await daemon.json<{ removed: string[]; unmerged: { name: string }[] }>(["prune", "--yes"]);
    expect(pruned.removed).not.toContain("busy");
    expect(pruned.unmerged).toContainEqual({ name: "busy", files: 2, added: 2, deleted: 0, commits: 1 });
    expect(await names()).toContain("busy");
    expect(await workOf("busy")).toBe("unmerged");
  });

  it("is asked about at a terminal", async () => {
    const { argv, env } = daemon.command(["rm", "busy"]);
    using no = onPty(argv, { env, cwd: daemon.scratch });
    await no.shows("unmerged work: 2 files, +2 -0, 1 commit. Remove it? [y/N]");
    no.type("n\r");
    await no.ended();
    expect(await names()).toContain("busy");
    using yes = onPty(argv, { env, cwd: daemon.scratch });
    await yes.shows("[y/N]");
    yes.type("y\r");
    await yes.shows("removed busy; kept for 7d: agentbox restore busy");
    expect(await names()).not.toContain("busy");
  });

  it("is kept where only the daemon can read it, and comes back under another name", async () => {
    const kept = (await removedNamed("busy"))!;
    expect(kept).toMatchObject({
      agent: "shell",
      projectDir: project.dir,
      unmerged: { files: 2, commits: 1 },
    });
    expect(kept.expiresAtMs - kept.removedAtMs).toBe(7 * 86_400_000);
    const dir = join(daemon.home, "removed", kept.id);
    expect(statSync(join(daemon.home, "removed")).mode & 0o777).toBe(0o700);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const { shared } = await daemon.client.getDisk();
    expect(shared.find(({ name }) => name === "removed boxes")?.bytes).toBeGreaterThan(0);

    const back = await daemon.cli(["restore", "busy", "--as", "busy-again"]);
    expect(back, back.stderr).toMatchObject({ code: 0, stdout: "restored busy-again, stopped\n" });
    expect(existsSync(dir)).toBe(false);
    expect(await removedNamed("busy")).toBeUndefined();
    expect(await workOf("busy-again")).toBe("unmerged");
    // The same life: its merges, its cost and its budget go on.
    expect((await daemon.client.getBox("busy-again")).box.incarnation).toBe(kept.id);
    expect((await daemon.cli(["start", "busy-again"])).code).toBe(0);
    const seen = await runIn(
      daemon,
      "busy-again",
      "cat a.txt b.txt; git log --format=%s; git status --short",
    );
    expect(seen.stdout).toBe("one\ntwo\none\nFirst\n?? b.txt\n");
    const { events } = await daemon.client.listEvents({ box: "busy-again", type: "box.restored", limit: 5 });
    expect(events).toMatchObject([{ data: { from: "busy", files: 2 } }]);
  });

  it("is no longer unmerged once it is merged, and the box goes without a question", async () => {
    expect((await merge(daemon, "busy-again", "--accept-danger", "unfamiliar")).code).toBe(0);
    expect(await workOf("busy-again")).toBe("merged");
    expect((await daemon.cli(["ls"])).stdout).toMatch(/busy-again .* merged /);
    expect((await daemon.cli(["stop", "busy-again"])).code).toBe(0);
    expect(await rm("busy-again")).toMatchObject({ code: 0 });
    // Its merge still counts when it comes back.
    expect((await daemon.cli(["restore", "busy-again"])).code).toBe(0);
    expect(await daemon.client.readUnmerged("busy-again")).toMatchObject({ files: 0, keepDays: 7 });
    expect((await rm("busy-again", "--purge")).code).toBe(0);
    expect(await removedNamed("busy-again")).toBeUndefined();
  });
});

describe("a box that is removed by force", () => {
  it("keeps what it has at that moment, also when it is paused", async () => {
    await working(daemon, project, "live", "echo early > a.txt");
    await runIn(daemon, "live", "echo late > a.txt");
    expect((await daemon.cli(["pause", "live"])).code).toBe(0);
    expect((await rm("live", "--force")).code).toBe(0);
    expect((await daemon.cli(["restore", "live"])).code).toBe(0);
    expect((await daemon.cli(["start", "live"])).code).toBe(0);
    expect((await runIn(daemon, "live", "cat a.txt")).stdout).toBe("late\n");
    expect((await rm("live", "--force")).code).toBe(0);
  });

  it("keeps a workspace that is no repository", async () => {
    const run = ["run", "shell", "--workspace", "empty", "--name", "plain", "--keep", "--no-stdin", "--"];
    expect((await daemon.cli([...run, "sh", "-c", "mkdir d; echo deep > d/f"])).code).toBe(0);
    expect((await rm("plain", "--force")).code).toBe(0);
    expect((await daemon.cli(["restore", "plain"])).code).toBe(0);
    expect((await daemon.cli(["start", "plain"])).code).toBe(0);
    expect((await runIn(daemon, "plain", "cat d/f")).stdout).toBe("deep\n");
    expect(await daemon.client.readUnmerged("plain")).toMatchObject({ files: 1 });
    expect((await rm("plain", "--force", "--purge")).code).toBe(0);
  });

  it("is kept when `run --rm` or `prune --force` removed it", async () => {
    const run = ["run", "shell", "--name", "brief", "--rm", "--no-stdin", "--", "sh", "-c", "echo x > x.txt"];
    expect((await daemon.cli(run, { cwd: project.dir })).code).toBe(0);
    await expect.poll(async () => (await removedNamed("brief"))?.unmerged.files, { timeout: 15_000 }).toBe(1);
    await worked(daemon, project, "swept", "echo y > y.txt");
    const pruned = await daemon.json<{ removed: string[] }>(["prune", "--force"]);
    expect(pruned.removed).toEqual(["swept"]);
    expect((await removedNamed("swept"))?.unmerged.files).toBe(1);
  });

  it("is deleted for good by `prune --removed`, and not kept with keep_days = 0", async () => {
    expect((await removed()).length).toBeGreaterThan(1);
    expect(codeOf(await daemon.cli(["prune", "--removed"]))).toBe("input.invalid");
    expect((await daemon.cli(["prune", "--removed", "--yes"])).code).toBe(0);
    expect(await removed()).toEqual([]);
    const { events } = await daemon.client.listEvents({ type: "box.forgotten", limit: 50 });
    expect(events.map(({ box }) => box)).toEqual(expect.arrayContaining(["brief", "swept"]));
    expect(codeOf(await daemon.cli(["restore", "swept"]))).toBe("removed.not_found");

    writeFileSync(join(daemon.home, "config.toml"), "[removed]\nkeep_days = 0\n", { mode: 0o600 });
    await worked(daemon, project, "unkept", "echo z > z.txt");
    expect(codeOf(await rm("unkept"))).toBe("review.unmerged");
    expect(await rm("unkept", "--force")).toMatchObject({ code: 0, stdout: "removed unkept\n" });
    expect(await removed()).toEqual([]);
  });
});
