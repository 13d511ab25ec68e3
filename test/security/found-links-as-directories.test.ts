/**
 * A link in place of a directory that tools read: one change of a path that no rule knows, and all behind it takes
 * effect. Links are judged as what they become, in whichever way they lead there.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Danger } from "../../src/contract/review/danger.ts";
import { codeOf, makeProject, merge, reviewOf, runIn, stateOf, working } from "../support/review.ts";
import { type Ground, eventsOf, onOneDaemon } from "./attack.ts";

const files = {
  "README.md": "# Shop\n",
  "src/shop.go": "package shop\n",
  "docs/x/tasks.json": '{ "tasks": [] }\n',
  "docs/wf/ci.yml": "on: push\n",
  "docs/gh/readme.md": "text\n",
  "docs/h/pre-commit": "echo\n",
  "conf/pre-push": "echo\n",
  "config/editor/readme.md": "text\n",
  "config/hooks.txt": "text\n",
  ".devcontainer/readme.md": "text\n",
};

interface Case {
  readonly title: string;
  readonly script: string;
  readonly kind: Danger["kind"];
  readonly path: string;
}

const inPlace = [".vscode", ".husky", ".claude", ".cargo", "node_modules"].map((name) => ({
  title: `a link in the place of ${name}`,
  script: `ln -s docs/x ${name}`,
  kind: ({ ".vscode": "editor_task", ".husky": "hook", ".claude": "agent_settings" }[name] ??
    "build_file") as Danger["kind"],
  path: name,
}));

const all: readonly Case[] = [
  ...inPlace,
  {
    title: "in a directory",
    script: "mkdir -p a; ln -s ../docs/x a/.vscode",
    kind: "editor_task",
    path: "a/.vscode",
  },
  {
    title: "a link to a link",
    script: "ln -s docs/x a; ln -s a .vscode",
    kind: "editor_task",
    path: ".vscode",
  },
  {
    title: "a link below a link",
    script: "ln -s docs/gh .github; ln -s ../wf docs/gh/workflows",
    kind: "ci",
    path: ".github",
  },
  {
    title: "a text that becomes source",
    script:
      "mkdir -p src; printf '//go:generate sh -c id\\n' > docs/sketch.txt; ln -s ../docs/sketch.txt src/sketch.go",
    kind: "code_directive",
    path: "src/sketch.go",
  },
  {
    title: "a picture that becomes source",
    script: "mkdir -p src; printf 'a\\0b' > docs/a.png; ln -s ../docs/a.png src/a.go",
    kind: "hidden_text",
    path: "src/a.go",
  },
  {
    title: "source of a language that the project does not have",
    script: "mkdir -p src; echo 'x = 1' > docs/note.txt; ln -s ../docs/note.txt src/note.py",
    kind: "unfamiliar",
    path: "src/note.py",
  },
  { title: "a directory of hooks", script: "ln -s docs/h hooks", kind: "hook", path: "hooks" },
  { title: "a link to where it is", script: "ln -s . conf/hooks", kind: "hook", path: "conf/hooks" },
  {
    title: "a target that comes later",
    script: "ln -s later/x .vscode",
    kind: "editor_task",
    path: ".vscode",
  },
  {
    title: "what is not in the repository, under another name",
    script: "ln -s ../private/key docs/key.txt",
    kind: "symlink",
    path: "docs/key.txt",
  },
  { title: "another case", script: "ln -s docs/x .VSCODE", kind: "editor_task", path: ".VSCODE" },
  {
    title: "a target in another case",
    script: "mkdir .github; ln -s ../Docs/WF .github/workflows",
    kind: "ci",
    path: ".github/workflows",
  },
  {
    title: "a directory that becomes a link",
    script: "rm -r .devcontainer; ln -s docs/x .devcontainer",
    kind: "editor_task",
    path: ".devcontainer",
  },
  {
    title: "a file behind a link that was there",
    script: "echo '{}' > config/editor/tasks.json",
    kind: "editor_task",
    path: "config/editor/tasks.json",
  },
  {
    title: "a file that a link is",
    script: "echo 'echo run' >> config/hooks.txt",
    kind: "hook",
    path: "config/hooks.txt",
  },
  {
    title: "a link that becomes a directory",
    script: "rm .idea; mkdir .idea; echo '{}' > .idea/tasks.json",
    kind: "editor_task",
    path: ".idea/tasks.json",
  },
  {
    title: "a link whose target is a file's text where there are no links",
    script: `ln -s '{"scripts":{"postinstall":"run"}}' package.json`,
    kind: "package_script",
    path: "package.json",
  },
  {
    title: "another repository in the place",
    script:
      "mkdir .vscode; cd .vscode; git init -q; git -c user.name=a -c user.email=a@b.test commit -q --allow-empty -m a",
    kind: "editor_task",
    path: ".vscode",
  },
];

const cases = (ground: Ground): void => {
  it("is a danger in every way that a link can lead there", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon, files);
    await project.git("config", "core.symlinks", "true");
    await addLinks(project.dir);
    await project.commit("Links of the person's own");
    await working(daemon, project, "links");
    const missed: string[] = [];
    for (const { title, script, kind, path } of all) {
      const made = await runIn(daemon, "links", `git reset -q --hard; git clean -qffdx; ${script}`);
      expect(made.code, `${title}: ${made.stderr}`).toBe(0);
      const { dangers } = await reviewOf(daemon, "links");
      if (!dangers.some((one) => one.kind === kind && one.path === path))
        missed.push(`${title}: ${JSON.stringify(dangers)}`);
    }
    expect(missed).toEqual([]);
  }, 180_000);

  it("does not land before it is accepted; a link to what no tool reads lands at once", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon, files);
    await working(daemon, project, "planted", "ln -s docs/x .vscode");
    const before = await stateOf(project);
    const refused = await merge(daemon, "planted");
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 5, said: "merge.danger" });
    expect(refused.stderr + refused.stdout).toMatch(/\.vscode\/tasks\.json/);
    expect((await eventsOf(daemon, "work.refused", "planted"))[0]?.data).toMatchObject({
      code: "merge.danger",
    });
    expect(await stateOf(project)).toEqual(before);
    const accepted = await merge(daemon, "planted", "--accept-danger", "editor_task");
    expect(accepted.code, accepted.stderr).toBe(0);

    await working(daemon, project, "plain", "ln -s docs/x pictures; ln -s ../docs docs/again");
    const merged = await merge(daemon, "plain");
    expect(merged.code, merged.stderr).toBe(0);
    expect(existsSync(join(project.dir, "pictures/tasks.json"))).toBe(true);
  }, 60_000);
};

/** The person's own links, which need no acceptance. */
async function addLinks(dir: string): Promise<void> {
  const { symlink, mkdir } = await import("node:fs/promises");
  await mkdir(join(dir, "git-hooks"));
  await symlink("config/editor", join(dir, ".zed"));
  await symlink("docs/x", join(dir, ".idea"));
  await symlink("../config/hooks.txt", join(dir, "git-hooks/pre-commit"));
}

onOneDaemon("links instead of directories", cases);
