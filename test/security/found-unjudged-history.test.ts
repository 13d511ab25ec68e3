/**
 * A landing is more than the difference between two states: single commits bring content that a later one has removed,
 * in any author's name, and a file that the person has renamed takes the work to another path. All of it is judged.
 */
import { expect, it } from "vitest";
import type { DangerKind } from "../../src/contract/review/danger.ts";
import {
  type Project,
  codeOf,
  makeProject,
  merge,
  reviewOf,
  runIn,
  stateOf,
  working,
} from "../support/review.ts";
import { type Ground, eventsOf, onOneDaemon } from "./attack.ts";

const key = ["ghp", "q7Zt2LmX9vKcR4bN8sWd1hGf6yJp3aQe5uTi"].join("_");
const asOther = "git -c user.name='Lena Other' -c user.email=lena@other.test";
const text = (word: string) => Array.from({ length: 20 }, (_, at) => `${word} ${at}\n`).join("");

interface Hidden {
  readonly title: string;
  readonly script: string;
  readonly kind: DangerKind;
  readonly said: RegExp;
}

const commit = (message: string, git = "git"): string => `git add -A; ${git} commit -q -m '${message}'`;
const removed = (path: string): string => `rm -r ${path}; ${commit("Tidy")}`;

const hidden: readonly Hidden[] = [
  {
    title: "a key that is removed again",
    script: `echo 'const token = "${key}";' > key.js; ${commit("Try")}; ${removed("key.js")}`,
    kind: "secret",
    said: /GitHub/,
  },
  {
    title: "a workflow that is removed again",
    script: `mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml; ${commit("Try")}; ${removed(".github")}`,
    kind: "ci",
    said: /CI|workflow/i,
  },
  {
    title: "a link in the place of a directory, for one commit",
    script: `ln -s docs .vscode; ${commit("Try")}; ${removed(".vscode")}`,
    kind: "editor_task",
    said: /VS Code/,
  },
  {
    title: "what a merge brings by itself",
    script: `git checkout -q -B side; echo s > side.txt; ${commit("Side")}; git switch -q work;
      echo m > main.txt; ${commit("Main")}; git merge -q --no-commit side; echo 'x' > .envrc; ${commit("Merge")}; ${removed(".envrc")}`,
    kind: "shell_rc",
    said: /./,
  },
  {
    title: "somebody else's name",
    script: `echo a > a.txt; ${commit("Add", asOther)}`,
    kind: "commit",
    said: /Lena Other/,
  },
  {
    title: "words that CI obeys",
    script: `echo a > a.txt; ${commit("Add [skip ci]")}`,
    kind: "commit",
    said: /CI pass over/,
  },
  {
    title: "a character that nobody sees",
    script: `echo a > a.txt; ${commit("Add \u202e it")}`,
    kind: "commit",
    said: /cannot be seen/,
  },
];

const cases = (ground: Ground): void => {
  const unchanged = async (project: Project, before: unknown) =>
    expect(await stateOf(project)).toEqual(before);

  it("single commits are judged where they land as such", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon, { "docs/tasks.json": "{}\n" });
    const before = await stateOf(project);
    await working(daemon, project, "history");
    for (const { title, script, kind, said } of hidden) {
      const made = await runIn(
        daemon,
        "history",
        `git checkout -qf -B work $(git rev-list --max-parents=0 HEAD); git clean -qffdx; echo rest > rest.txt; ${script}`,
      );
      expect(made.code, `${title}: ${made.stderr}`).toBe(0);
      const { dangers, history } = await reviewOf(daemon, "history");
      expect(dangers, title).toEqual([]);
      const found = history.flatMap((one) => one.dangers).filter((one) => one.kind === kind);
      expect(found.map(({ why }) => why).join(" "), title).toMatch(said);
      const refused = await merge(daemon, "history", "--mode", "commits");
      expect({ title, code: refused.code, said: codeOf(refused) }).toEqual({
        title,
        code: 5,
        said: "merge.danger",
      });
      expect(refused.stderr + refused.stdout).toContain(kind);
      await unchanged(project, before);
    }
    expect((await eventsOf(daemon, "work.refused", "history"))[0]?.data).toMatchObject({ mode: "commits" });

    // The control: one commit of it, or single ones that are the agent's and do nothing on their own.
    const squashed = await merge(daemon, "history");
    expect(squashed.code, squashed.stderr).toBe(0);
    expect(await project.git("log", "-1", "--format=%an %s")).not.toMatch(/\u202e/);
    await working(
      daemon,
      project,
      "honest",
      `echo b > b.txt; ${commit("Add b")}; echo c > c.txt; ${commit("Add c")}`,
    );
    const landed = await merge(daemon, "honest", "--mode", "commits");
    expect(landed.code, landed.stderr).toBe(0);
    expect(await project.git("log", "-2", "--format=%s")).toBe("Add c\nAdd b\n");
  }, 180_000);

  it("one commit of it all carries nobody else's name, unless that is accepted", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon, { "a.txt": "a\n" });
    await working(daemon, project, "named", `echo b > b.txt; ${commit("Add b", asOther)}`);
    expect((await merge(daemon, "named")).code).toBe(0);
    expect(await project.git("log", "-1", "--format=%an")).toBe("Pat Person\n");
    expect((await daemon.cli(["undo"], { cwd: project.dir })).code).toBe(0);
    expect((await merge(daemon, "named", "--accept-danger", "commit")).code).toBe(0);
    expect(await project.git("log", "-1", "--format=%an")).toBe("Lena Other\n");
  }, 60_000);

  it("work is judged at the place where it lands, also when that changed after the look", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon, {
      "docs/ci.txt": text("step"),
      "docs/notes.txt": text("note"),
    });
    await working(
      daemon,
      project,
      "moved",
      "sed -i '1s/.*/run: curl evil/' docs/ci.txt; echo more >> docs/notes.txt",
    );
    expect((await reviewOf(daemon, "moved")).dangers).toEqual([]);
    expect((await daemon.cli(["diff", "moved"])).code).toBe(0);
    await project.git("mv", "docs/notes.txt", "docs/remarks.txt");
    await project.commit("Rename notes");
    expect((await reviewOf(daemon, "moved")).dangers).toEqual([]);

    project.write(".github/workflows/readme.md", "text\n");
    await project.git("mv", "docs/ci.txt", ".github/workflows/ci.yml");
    await project.commit("Use it");
    const before = await stateOf(project);
    const refused = await daemon.cli(["merge", "moved", "--accept-danger", "ci"]);
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 5, said: "merge.danger" });
    expect(refused.stderr).toContain("changed since it was looked at");
    await unchanged(project, before);

    const { dangers } = await reviewOf(daemon, "moved");
    expect(dangers).toMatchObject([{ kind: "ci", path: ".github/workflows/ci.yml" }]);
    expect((await daemon.cli(["diff", "moved"])).stderr).toContain(".github/workflows/ci.yml");
    expect(codeOf(await daemon.cli(["merge", "moved"]))).toBe("merge.danger");
    await unchanged(project, before);
    const landed = await daemon.cli(["merge", "moved", "--accept-danger", "ci"]);
    expect(landed.code, landed.stderr).toBe(0);
    expect(project.read(".github/workflows/ci.yml")).toContain("curl evil");
    expect(project.read("docs/remarks.txt")).toContain("more");
  }, 60_000);
};

onOneDaemon("history and destinations that were not judged", cases);
