/**
 * Threat 24: what the host executes because a box has planted it. Everything is planted, every command of AgentBox is
 * run on it, and no canary appears on the host; by hand, plain git falls for each of them.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { TestDaemon } from "../support/daemon.ts";
import { runProgram } from "../support/program.ts";
import {
  acceptingAll,
  codeOf,
  giveTo,
  makeProject,
  merge,
  type Project,
  reviewOf,
  runIn,
  worked,
  working,
} from "../support/review.ts";
import { type Ground, onEachDaemon } from "./attack.ts";
import { plantedFiles, traps } from "./host-traps.ts";

const files = { "README.md": "# Shop\n", victim: "victim\n", "old.text": "old\n" };
const agentCommit = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c commit.gpgsign=false";

/** A script of a person's on the host, in a repository of any owner. */
const onHost = (script: string, cwd: string) =>
  runProgram(["sh", "-c", script], {
    cwd,
    env: {
      ...process.env,
      GIT_TERMINAL_PROMPT: "0",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
    },
  });

/** All actions of the host on a box and its work; each ends well or with a code. The failures are returned. */
async function doEverything(daemon: TestDaemon, project: Project, box: string): Promise<readonly string[]> {
  const refused: string[] = [];
  const attempt = async (args: readonly string[]): Promise<void> => {
    const result = await daemon.cli(args, { cwd: project.dir });
    if (result.code === 0) return;
    const said = codeOf(result);
    expect(said, `${args.join(" ")}: ${result.stderr}`).toBeDefined();
    expect(said, `${args.join(" ")}: ${result.stderr}`).not.toMatch(/^internal/);
    refused.push(`${args.join(" ")}: ${result.stderr}`);
  };
  const out = (name: string) => join(daemon.scratch, `${box}-${name}`);
  const commands: readonly string[][] = [
    ["inspect", box],
    ["stats", box],
    ["ls"],
    ["diff", box],
    ["diff", box, "--stat"],
    ["diff", box, "--json"],
    ["checkpoints", box, "--as", "planted"],
    ["checkpoints", box],
    ["comment", box, "victim:1", "what is this?"],
    ["check", box],
    ["export", box, "--patch", out("patch")],
    ["export", box, "--bundle", out("bundle")],
    ["checkpoints", box, "--fork", `${box}-fork`],
    ["diff", `${box}-fork`, "--stat"],
    ["checkpoints", box, "--restore", "base"],
    ["checkpoints", box, "--restore", "planted"],
    ["cp", `${box}:/workspace`, out("copy")],
    ["restart", box],
    ["stop", box],
    ["diff", box, "--stat"],
  ];
  for (const args of commands) await attempt(args);
  for (const mode of ["patch", "squash", "commits"]) {
    const accept = await acceptingAll(daemon, box).catch(() => []);
    await attempt(["merge", box, "--unseen", "--mode", mode, "--skip-checks", ...accept]);
    await attempt(["undo", box]);
  }
  await attempt(["discard", `${box}-fork`, "--yes"]);
  await attempt(["discard", box, "--yes"]);
  return refused;
}

const cases = (ground: Ground): void => {
  let canaries: string;
  beforeEach(async () => {
    canaries = join(ground.daemon.scratch, "canaries");
    rmSync(canaries, { recursive: true, force: true });
    mkdirSync(canaries, { mode: 0o777 });
    await giveTo(ground.daemon, canaries);
  });
  const touchOf = (name: string) => `touch ${join(canaries, name.replaceAll(" ", "-"))}`;
  const sprung = () => readdirSync(canaries).toSorted();

  describe("planted in the box", () => {
    it.each(traps)("$name: works on a host that uses plain git", async ({ name, set, spring }) => {
      const project = await makeProject(ground.daemon, files);
      await onHost(`${set(touchOf(name))}\n${spring}`, project.dir);
      expect(sprung()).toEqual([name.replaceAll(" ", "-")]);
    });

    it("nothing of it runs on the host, whatever AgentBox is asked to do", async () => {
      const { daemon } = ground;
      const project = await makeProject(daemon, files);
      await working(daemon, project, "planted", "true", {
        check: [{ name: "test", command: "git status; true" }],
      });
      // Each springs for the next one's git, in the box, where there is nothing to touch: that may fail.
      const all = traps.map(({ name, set }) => set(touchOf(name))).join("\n");
      await runIn(daemon, "planted", `set +e\n${all}`);
      const planted = (await runIn(daemon, "planted", "cat .git/config .gitmodules; ls .git/hooks .traps"))
        .stdout;
      for (const { name } of traps.filter(
        (trap) => !["included config", "signing program"].includes(trap.name),
      ))
        expect(planted, name).toContain(name.startsWith("hooks") ? "reference-transaction" : touchOf(name));
      const { code, stderr } = await runIn(
        daemon,
        "planted",
        `${plantedFiles(touchOf("file"))}
         echo changed > victim; echo new > old.text; echo x > new.text
         ${agentCommit} -c user.name=a -c user.email=a@b.test add -A
         ${agentCommit} -c user.name=a -c user.email=a@b.test commit -qm planted; echo more >> victim`,
      );
      expect(code, stderr).toBe(0);
      // The control: it is there to be seen.
      const review = await reviewOf(daemon, "planted");
      expect(review.changes.map(({ path }) => path)).toEqual(
        expect.arrayContaining([".gitattributes", ".gitmodules", ".vscode/tasks.json", ".envrc", "victim"]),
      );
      expect(review.dangers.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(["submodule", "git_settings", "editor_task", "shell_rc", "agent_settings"]),
      );
      expect(await doEverything(daemon, project, "planted")).toEqual([]);
      expect(sprung()).toEqual([]);
    }, 180_000);

    it.each([
      { name: "file", set: (trap: string) => `rm -rf .git; echo 'gitdir: ${trap}' > .git` },
      { name: "link", set: (trap: string) => `rm -rf .git; ln -s ${trap} .git` },
      { name: "alternates", set: (trap: string) => `echo ${trap}/objects > .git/objects/info/alternates` },
      { name: "commondir", set: (trap: string) => `echo ${trap} > .git/commondir` },
    ])(
      ".git as $name that leads to a repository of the host",
      async ({ name, set }) => {
        const { daemon } = ground;
        const project = await makeProject(daemon, files);
        const host = await makeProject(daemon, { secret: "host secret\n" });
        const script = traps
          .filter((trap) => ["hooks", "fsmonitor", "external diff"].includes(trap.name))
          .map((trap) => trap.set(touchOf(trap.name)))
          .join("\n");
        expect((await onHost(script, host.dir)).code).toBe(0);
        await giveTo(daemon, host.dir);
        rmSync(canaries, { recursive: true });
        mkdirSync(canaries, { mode: 0o777 });
        await working(
          daemon,
          project,
          `lead-${name}`,
          `echo work > work.txt; ${set(join(host.dir, ".git"))}`,
        );
        const shown = await daemon.cli(["diff", `lead-${name}`]);
        expect(shown.stdout + shown.stderr).not.toContain("host secret");
        await doEverything(daemon, project, `lead-${name}`);
        expect(sprung()).toEqual([]);
        // The control: plain git on the host follows it and falls for what is there.
        await onHost("git status", host.dir);
        expect(sprung()).toContain("fsmonitor");
      },
      120_000,
    );

    it("replaced and grafted history changes nothing about what is shown and merged", async () => {
      const { daemon } = ground;
      const project = await makeProject(daemon, files);
      await worked(
        daemon,
        project,
        "history",
        `echo harmless > shown.txt; git add -A; git -c user.name=a -c user.email=a@b.test commit -qm one
         other=$(echo harmful | git hash-object -w --stdin)
         git replace $(git rev-parse HEAD:shown.txt) $other
         git replace $(git rev-parse HEAD~0) $(git rev-parse HEAD~1) || true
         git rev-parse HEAD > .git/info/grafts`,
      );
      const patch = await daemon.cli(["diff", "history"]);
      const merged = await merge(daemon, "history", ...(await acceptingAll(daemon, "history")));
      expect(merged.code, merged.stderr).toBe(0);
      const landed = project.read("shown.txt").trim();
      expect(patch.stdout).toContain(`+${landed}`);
      expect(await project.git("for-each-ref", "refs/replace")).toBe("");
    });
  });

  describe("configured by the person, chosen by the work", () => {
    it.each(["squash", "commits", "patch"])(
      "no program runs when it lands (%s)",
      async (mode) => {
        const { daemon } = ground;
        const project = await makeProject(daemon, files);
        const box = `chosen-${mode}`;
        await worked(
          daemon,
          project,
          box,
          `echo '* filter=trap diff=trap merge=trap' > .gitattributes; echo '*.proc filter=process' >> .gitattributes
         echo '*.text diff=text' >> .gitattributes
         echo theirs > victim; echo x > a.proc; echo new > old.text; mkdir sub; echo '* filter=trap' > sub/.gitattributes; echo x > sub/x
         git add -A; git -c user.name=a -c user.email=a@b.test commit -qm work`,
        );
        project.write("README.md", "# Mine\n");
        await project.commit("Mine");
        const quiet =
          "git config --unset-all core.hooksPath; rm -f .gitattributes .gitmodules .trap-config; git reset -q";
        const script = traps.map(({ name, set }) => set(touchOf(name))).join("\n");
        await onHost(`${script}\n${quiet}`, project.dir);
        await onHost("git config core.hooksPath .traps; echo .traps > .git/info/exclude", project.dir);
        await giveTo(daemon, project.dir);
        rmSync(canaries, { recursive: true });
        mkdirSync(canaries, { mode: 0o777 });
        await giveTo(daemon, canaries);

        const { code, stderr } = await merge(
          daemon,
          box,
          "--mode",
          mode,
          ...(await acceptingAll(daemon, box)),
        );
        expect(code, stderr).toBe(0);
        expect(project.read("victim")).toBe("theirs\n");
        expect(sprung()).toEqual([]);
        const undone = await daemon.cli(["undo"], { cwd: project.dir });
        expect(undone.code, undone.stderr).toBe(0);
        expect(sprung()).toEqual([]);
        expect(existsSync(join(project.dir, "a.proc"))).toBe(false);

        // The control: the person's own git does run them.
        await onHost("git status", project.dir);
        expect(sprung()).toContain("fsmonitor");
      },
      120_000,
    );
  });
};

onEachDaemon("host-executed files", cases);
