/**
 * Found: below a mounted directory, or in one without a repository, a box could put a repository with a config of its own in the
 * place where the person's `git status` looks, and that ran what the config names.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { chownTree, type Ground, onEachDaemon, shellInBox } from "./attack.ts";

const git = (project: string, ...args: string[]) => {
  const identity = ["-c", "user.name=P", "-c", "user.email=p@example.org", "-c", "safe.directory=*"];
  return runProgram(["git", ...identity, "-C", project, ...args]);
};

async function makeDirectory({ daemon, isRootDaemon }: Ground): Promise<string> {
  if (isRootDaemon) await runProgram(["chmod", "a+x", daemon.scratch]);
  const project = mkdtempSync(join(daemon.scratch, "mounted-"));
  writeFileSync(join(project, "file"), "one\n");
  return project;
}

const giveToPerson = ({ isRootDaemon }: Ground, project: string): void => {
  if (isRoot && !isRootDaemon) chownTree(project, ordinaryUser);
};

const mount = (project: string) => ({
  projectDir: project,
  flags: { workspace: { mode: "mount" as const } },
});

const cases = (ground: Ground): void => {
  it("lets no box make a repository of a directory that has none", async () => {
    const { daemon } = ground;
    const project = await makeDirectory(ground);
    giveToPerson(ground, project);
    const proof = join(project, "proof");
    const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch '${proof}'; false"\n`;
    const { box } = await daemon.client.createBox({ name: "bare", ...mount(project) });
    const planted = await shellInBox(
      daemon,
      box.name,
      `mkdir objects refs && cat > config <<'END' && echo done\n${config}END`,
    );
    // Control: the other parts are names like any other.
    expect(planted).toMatchObject({ code: 0, stdout: "done\n" });
    for (const way of [
      "echo 'ref: refs/heads/main' > HEAD",
      "ln -s refs/heads/main HEAD",
      "rmdir HEAD && echo 'ref: refs/heads/main' > HEAD",
      "echo 'ref: refs/heads/main' > new && mv -fT new HEAD",
      "mv HEAD away && echo 'ref: refs/heads/main' > HEAD",
    ])
      expect((await shellInBox(daemon, box.name, way)).code, way).not.toBe(0);
    await git(project, "status");
    expect(existsSync(proof)).toBe(false);
    expect((await daemon.cli(["rm", "--force", box.name])).code).toBe(0);
    await git(project, "status");
    expect(existsSync(proof)).toBe(false);
    expect(readdirSync(project)).not.toContain("HEAD");
    // Control: with that one file, the person's git runs it.
    writeFileSync(join(project, "HEAD"), "ref: refs/heads/main\n");
    await git(project, "status");
    expect(existsSync(proof)).toBe(true);

    // A directory that is such a repository already is the box's to change as a whole, so it is not mounted.
    rmSync(proof);
    giveToPerson(ground, project);
    const again = daemon.client.createBox({ name: "bare-again", ...mount(project) });
    await expect(again).rejects.toMatchObject({ code: "workspace.source_invalid" });
  });

  it("mounts no directory with a submodule, and what is beside one", async () => {
    const { daemon } = ground;
    const project = await makeDirectory(ground);
    for (const name of ["docs", "libs"]) mkdirSync(join(project, name));
    writeFileSync(join(project, "docs/page"), "one\n");
    await git(project, "init", "-q", "-b", "main");
    await git(project, "add", "file", "docs");
    await git(project, "commit", "-qm", "first");
    const commit = (await git(project, "rev-parse", "HEAD")).stdout.trim();
    const added = await git(project, "update-index", "--add", "--cacheinfo", `160000,${commit},libs/sub`);
    expect(added).toMatchObject({ code: 0 });
    giveToPerson(ground, project);
    for (const [index, path] of [project, join(project, "libs")].entries()) {
      const refused = daemon.client.createBox({ name: `submodule-${index}`, ...mount(path) });
      await expect(refused, path).rejects.toMatchObject({
        code: "workspace.source_invalid",
        message: expect.stringContaining("libs/sub is a submodule") as string,
      });
    }
    const { box } = await daemon.client.createBox({ name: "beside", ...mount(join(project, "docs")) });
    expect((await shellInBox(daemon, box.name, "echo two >> page")).code).toBe(0);
  });
};

onEachDaemon("a mounted directory", cases);
