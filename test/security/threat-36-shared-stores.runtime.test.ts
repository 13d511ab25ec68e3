/**
 * Threat 36: files that one box writes and another executes. Boxes can only read the files that they share; those that
 * they can write are theirs alone, also when one was made from the other.
 */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { onAgents } from "../support/agents.ts";
import { runProgram } from "../support/program.ts";
import { codeOf, makeProject, reviewOf, runIn, working } from "../support/review.ts";
import { type Ground, onEachDaemon } from "./attack.ts";

/** Files below a directory by inode: the same inode in two boxes is one file. */
function inodesBelow(directory: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const { dev, ino } = statSync(path);
    found.set(`${dev}:${ino}`, path);
  }
  return found;
}

const cases = (ground: Ground): void => {
  it("home, workspace and review of one box are not to be seen in another", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    const marker = "marker-of-the-first-box";
    await working(daemon, project, "first", `echo ${marker} | tee ~/mine /workspace/mine /tmp/mine`);
    await working(daemon, project, "second");
    expect((await reviewOf(daemon, "first")).totals.files).toBe(1);
    const look = `cat ~/mine /workspace/mine /tmp/mine 2>/dev/null; grep -rslF ${marker} /home /workspace /tmp /run /opt /var /mnt /srv 2>/dev/null; true`;
    // The control: where it was written it is found.
    expect((await runIn(daemon, "first", look)).stdout).toContain(marker);
    const { stdout } = await runIn(daemon, "second", look);
    expect(stdout).toBe("");
    for (const { paths } of [await daemon.client.getBox("first"), await daemon.client.getBox("second")])
      expect(
        (await runIn(daemon, "second", `find ${join(paths.workspace, "..", "..")} -maxdepth 0`)).stderr,
      ).toContain("No such file");
  });

  it("two clones of one repository have no file in common that either can write", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await working(daemon, project, "clone-a", "echo a > a.txt; git add a.txt");
    await working(daemon, project, "clone-b", "true");
    const [a, b] = await Promise.all(
      ["clone-a", "clone-b"].map(async (box) => (await daemon.client.getBox(box)).paths.workspace),
    );
    const host = inodesBelow(project.dir);
    for (const [inode, path] of inodesBelow(b!)) {
      const twin = inodesBelow(a!).get(inode) ?? host.get(inode);
      expect(twin, `${path} is ${twin}`).toBeUndefined();
    }
    // Each may do anything to its own objects.
    await runIn(
      daemon,
      "clone-a",
      "chmod -R u+w .git/objects; find .git/objects -type f -exec sh -c 'echo broken > $1' _ {} \\;",
    );
    expect((await runIn(daemon, "clone-b", "git fsck && git status")).code).toBe(0);
    await project.git("fsck");
    const broken = await daemon.cli(["diff", "clone-a"]);
    expect(broken.code).not.toBe(0);
    expect(codeOf(broken)).toMatch(/^review\./);
  });

  it("a fork has no writable file in common with its origin", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await working(daemon, project, "parent", "echo one > a.txt; echo hidden > ~/.secret; echo x > /tmp/left");
    const forked = await daemon.cli(["checkpoints", "parent", "--fork", "child"]);
    expect(forked.code, forked.stderr).toBe(0);
    expect((await daemon.cli(["start", "child"])).code).toBe(0);
    const [parent, child] = await Promise.all(
      ["parent", "child"].map(async (box) => (await daemon.client.getBox(box)).paths),
    );
    const known = inodesBelow(join(parent!.workspace, ".."));
    for (const [inode, path] of inodesBelow(join(child!.workspace, "..")))
      expect(known.get(inode), path).toBeUndefined();
    expect((await runIn(daemon, "child", "cat a.txt")).stdout).toBe("one\n");
    expect((await runIn(daemon, "child", "cat ~/.secret /tmp/left 2>/dev/null; true")).stdout).toBe("");
    await runIn(
      daemon,
      "child",
      "echo child > a.txt; echo x > only-child; git config core.fsmonitor evil; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
    );
    const { stdout } = await runIn(
      daemon,
      "parent",
      "cat a.txt; ls; git config core.fsmonitor || true; ls .git/hooks/pre-commit 2>/dev/null || true",
    );
    expect(stdout).toBe("one\nREADME.md\na.txt\nsrc\n");
    expect((await reviewOf(daemon, "parent")).changes.map(({ path }) => path)).toEqual(["a.txt"]);
    await daemon.cli(["rm", "--force", "parent"]);
    expect((await runIn(daemon, "child", "git fsck && cat a.txt")).stdout).toContain("child");
    expect((await reviewOf(daemon, "child")).totals.files).toBe(2);
  });
};

onEachDaemon("shared stores", cases);

onAgents("the stores that agents share", { fixtures: ["notebot"] }, (ground) => {
  it("tools and skills can be read and run in a box, and changed in none", async () => {
    const { daemon } = ground;
    const dir = await ground.project({ "skills/greet/SKILL.md": "---\nname: greet\n---\nSay hello.\n" });
    writeFileSync(
      join(dir, "agentbox.toml"),
      'version = 1\n[agent]\nname = "notebot"\nskills = "./skills"\n',
    );
    // For root, a box's own user must be let through to what is mounted.
    for (const argv of [
      ["chmod", "-R", "a+rX", dir],
      ["chmod", "a+x", daemon.scratch],
    ])
      await runProgram(argv);
    const made = await daemon.cli(["create", "notebot", "--name", "tools", "--start"], { cwd: dir });
    expect(made.code, made.stderr).toBe(0);

    const mounts = (await runIn(daemon, "tools", "grep -E 'agentbox' /proc/mounts")).stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    const shared = mounts.map(([, target]) => target!).filter((target) => /tool|skill|agent\//.test(target));
    expect(shared.length, JSON.stringify(mounts)).toBeGreaterThan(0);
    for (const path of shared) {
      const attempt = await runIn(daemon, "tools", `touch ${path}/planted || echo x >> ${path}`);
      expect(attempt.code, path).not.toBe(0);
      const change = await runIn(
        daemon,
        "tools",
        `f=$(find ${path} -type f | head -n1); test -n "$f" || exit 1; echo x >> "$f"`,
      );
      expect(change.code, path).not.toBe(0);
      expect(
        (await runIn(daemon, "tools", `find ${path} -type f | head -n1 | xargs cat > /dev/null`)).code,
      ).toBe(0);
    }
    // The control: beside them it can write.
    expect((await runIn(daemon, "tools", "touch ~/planted /workspace/planted /tmp/planted")).code).toBe(0);
  });
});
