/**
 * Found: in a mounted workspace `.git` was closed without a word, and stand-ins were in the person's sight. The box now commits
 * into a git directory of its own; nothing that it does reaches the host's config, hooks, index or references.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { chownTree, eventsOf, type Ground, onEachDaemon, shellInBox } from "./attack.ts";

const git = async (project: string, ...args: string[]): Promise<string> => {
  const identity = ["-c", "user.name=P", "-c", "user.email=p@example.org", "-c", "safe.directory=*"];
  const { code, stdout, stderr } = await runProgram(["git", ...identity, "-C", project, ...args]);
  expect({ args, code, stderr }).toMatchObject({ code: 0 });
  return stdout.trim();
};

async function makeProject({ daemon, isRootDaemon }: Ground): Promise<string> {
  if (isRootDaemon) await runProgram(["chmod", "a+x", daemon.scratch]);
  const project = mkdtempSync(join(daemon.scratch, "own-git-"));
  await git(project, "init", "-q", "-b", "main");
  writeFileSync(join(project, "file"), "one\n");
  writeFileSync(join(project, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  await git(project, "add", "file");
  await git(project, "commit", "-qm", "first");
  if (isRoot && !isRootDaemon) chownTree(project, ordinaryUser);
  return project;
}

/** Every file of the host's git directory, by its content; what our own landing adds is left out by name. */
const state = (project: string, except: RegExp = /^$/): Readonly<Record<string, string>> => {
  const root = join(project, ".git");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => statSync(join(root, name)).isFile() && !except.test(name),
  );
  const digest = (name: string) =>
    createHash("sha256")
      .update(readFileSync(join(root, name)))
      .digest("hex");
  return Object.fromEntries(files.map((name) => [name, digest(name)]));
};

/** On a busy machine the search for secrets may fail, and says so. */
const accepted = ["--accept-danger", "unfamiliar", "--accept-danger", "secret"];

const mount = (project: string) => ({
  projectDir: project,
  flags: { workspace: { mode: "mount" as const } },
});

const cases = (ground: Ground): void => {
  it("lets a box commit, and changes nothing of the host's git directory", async () => {
    const { daemon } = ground;
    const project = await makeProject(ground);
    const before = state(project);
    const { box, warnings } = await daemon.client.createBox({ name: "own-git", ...mount(project) });
    expect(warnings.join("\n")).toContain("Closed to it there: .git");
    expect(warnings.join("\n")).toContain("agentbox merge own-git");
    const names = [".mcp.json", "opencode.json", "agentbox.toml", "agentbox.lock"];
    for (const name of names) expect(existsSync(join(project, name)), name).toBe(true);
    // Neither the person nor the box has the stand-ins among its new files.
    expect(await git(project, "--no-optional-locks", "status", "--porcelain")).toBe("");
    expect((await shellInBox(daemon, box.name, "git status --porcelain")).stdout).toBe("");

    const attacks = [
      "git config core.fsmonitor /bin/false && git config core.hooksPath /workspace/hooks",
      "mkdir -p .git/hooks && printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/*",
      "echo ../evil > .git/commondir && rm .git/commondir",
      "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),planted-module",
      "git update-ref refs/heads/main $(git commit-tree -m planted HEAD^{tree})",
      "git rm -q --cached planted-module && git config --unset core.hooksPath && git config --unset core.fsmonitor",
      "echo two >> file && echo new > added && git add -A && git commit -qm 'of the box'",
    ];
    // Controls: each does its work, on the box's own.
    for (const attack of attacks)
      expect(await shellInBox(daemon, box.name, attack), attack).toMatchObject({ code: 0 });
    expect((await shellInBox(daemon, box.name, "git log --format=%s")).stdout).toBe("of the box\nfirst\n");
    // The name itself stays the host's: what the box sees there cannot be taken away or replaced.
    for (const way of ["rmdir .git", "rm -rf .git", "umount .git", "ln -sfnT file .git"]) {
      await shellInBox(daemon, box.name, way);
      expect(statSync(join(project, ".git")).isDirectory(), way).toBe(true);
    }
    expect(state(project, /^info\/exclude$/)).toEqual(
      Object.fromEntries(Object.entries(before).filter(([name]) => name !== "info/exclude")),
    );
    expect((await daemon.cli(["rm", "--force", box.name])).code).toBe(0);
    // And it is all as it was, but for the files that the box was to write.
    expect(state(project)).toEqual(before);
    expect(readdirSync(project).toSorted()).toEqual([".git", "added", "file"]);
  });

  it("brings the commits as a branch of their own, after a look, and takes them back", async () => {
    const { daemon } = ground;
    const project = await makeProject(ground);
    const { box } = await daemon.client.createBox({ name: "own-branch", ...mount(project) });
    const work = await shellInBox(
      daemon,
      box.name,
      "echo two >> file && git commit -qam 'second' && echo three >> file && git commit -qam third",
    );
    expect(work).toMatchObject({ code: 0 });
    const before = state(project);
    // Control: what nobody has looked at does not land.
    const unseen = await daemon.cli(["merge", box.name, "--mode", "commits", "--json"]);
    expect(unseen.stderr).toContain("merge.unseen");
    expect(state(project)).toEqual(before);

    expect((await daemon.cli(["diff", box.name])).stdout).toContain("+three");
    const merged = await daemon.cli([
      "merge",
      box.name,
      "--mode",
      "commits",
      "--accept-danger",
      "unfamiliar",
    ]);
    expect(merged).toMatchObject({ code: 0 });
    expect(merged.stdout).toContain(`into agentbox/${box.name}`);
    expect(await git(project, "log", "--format=%s", "agentbox/own-branch")).toBe("third\nsecond\nfirst");
    // HEAD, index, config, hooks and files are as they were.
    expect(await git(project, "log", "--format=%s", "HEAD")).toBe("first");
    const isNew = /^(objects|refs\/heads\/agentbox|logs\/refs\/heads\/agentbox)\//;
    expect(state(project, isNew)).toEqual(
      Object.fromEntries(Object.entries(before).filter(([name]) => !isNew.test(name))),
    );
    expect(readFileSync(join(project, "file"), "utf8")).toBe("one\ntwo\nthree\n");
    expect(await eventsOf(daemon, "work.merged", box.name)).toHaveLength(1);

    // More work follows on the same branch.
    await shellInBox(daemon, box.name, "echo four >> file && git commit -qam fourth");
    await daemon.cli(["diff", box.name]);
    const again = ["merge", box.name, "--mode", "commits", ...accepted];
    expect(await daemon.cli(again)).toMatchObject({ code: 0 });
    expect(await git(project, "log", "--format=%s", "agentbox/own-branch")).toBe(
      "fourth\nthird\nsecond\nfirst",
    );
    expect(await daemon.cli(["undo", box.name])).toMatchObject({ code: 0 });
    expect(await git(project, "log", "--format=%s", "agentbox/own-branch")).toBe("third\nsecond\nfirst");
    expect(await daemon.cli(["undo", box.name])).toMatchObject({ code: 0 });
    expect(await git(project, "branch", "--list", "agentbox/*")).toBe("");

    // A person's branch of that name is not moved.
    await git(
      project,
      "branch",
      `agentbox/${box.name}`,
      await git(project, "commit-tree", "-m", "mine", "HEAD^{tree}"),
    );
    if (isRoot && !ground.isRootDaemon) chownTree(project, ordinaryUser);
    const mine = await git(project, "rev-parse", `agentbox/${box.name}`);
    await daemon.cli(["diff", box.name]);
    const refused = await daemon.cli(again);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("is there already");
    expect(await git(project, "rev-parse", `agentbox/${box.name}`)).toBe(mine);
    // Commits that were not brought over are work that a removal would lose.
    expect((await daemon.cli(["stop", box.name])).code).toBe(0);
    expect((await daemon.cli(["rm", box.name])).stderr).toContain("review.unmerged");
    expect((await daemon.cli(["rm", "--force", box.name])).code).toBe(0);
  });

  it("leaves nothing behind when run returns", async () => {
    const { daemon } = ground;
    const project = await makeProject(ground);
    const before = state(project);
    const options = { cwd: project };
    const args = ["run", "--workspace", "mount", "--rm", "shell", "--", "sh", "-c", "echo x > made"];
    expect(await daemon.cli(args, options)).toMatchObject({ code: 0 });
    expect(readdirSync(project).toSorted()).toEqual([".git", "file", "made"]);
    expect(state(project)).toEqual(before);
  });

  it("says so where it cannot commit", async () => {
    const { daemon } = ground;
    const project = await makeProject(ground);
    const tree = join(daemon.scratch, "linked-tree");
    await git(project, "worktree", "add", "-q", tree);
    if (isRoot && !ground.isRootDaemon) for (const path of [project, tree]) chownTree(path, ordinaryUser);
    const { box, warnings } = await daemon.client.createBox({ name: "no-own-git", ...mount(tree) });
    expect(warnings.join("\n")).toContain("It cannot commit there");
    expect((await shellInBox(daemon, box.name, "echo x > .git")).code).not.toBe(0);
    expect((await daemon.cli(["inspect", box.name])).stdout).toContain("It cannot commit there");
    const refused = await daemon.cli(["diff", box.name]);
    expect(refused.stderr).toContain("review.unavailable");
    expect((await daemon.cli(["rm", "--force", box.name])).code).toBe(0);
  });
};

onEachDaemon("a mounted repository", cases);
