/** A directory that a tool has filled and nobody ignores: one question in the review, and nothing lands before its answer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Review } from "../../src/contract/review/review.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeProject, type Project, working } from "../support/review.ts";
import { runProgram } from "../support/program.ts";

/** What `python -m venv` leaves, without Python: its mark, links that leave the tree, and many programs. */
const fill = `
mkdir -p .venv/bin .venv/lib/python3/site-packages && echo 'home = /usr/bin' > .venv/pyvenv.cfg
ln -s /usr/bin/python3 .venv/bin/python3 && ln -s python3 .venv/bin/python && ln -s lib .venv/lib64
for n in $(seq 1200); do printf '#!/bin/sh\\necho %s\\n' $n > .venv/bin/tool-$n; done; chmod +x .venv/bin/tool-*
for n in $(seq 100); do echo "print($n)" > .venv/lib/python3/site-packages/m$n.py; done
`;

describe("an unignored environment of Python", () => {
  let daemon: TestDaemon;
  let project: Project;
  beforeAll(async () => {
    daemon = await startDaemon();
    project = await makeProject(daemon, { "a.txt": "one\n", "venv/pyvenv.cfg": "mine\n", "venv/run": "x\n" });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const look = async (box: string): Promise<Review> => daemon.json<Review>(["diff", box]);

  it("is one question, blocks the merge, and is out of the work once ignored", async () => {
    await working(daemon, project, "filled", `${fill} echo two > a.txt`);
    const { dangers } = await look("filled");
    expect(dangers.filter(({ kind }) => kind === "installed")).toMatchObject([{ path: ".venv" }]);
    expect(dangers.length).toBeLessThan(5);
    const shown = await daemon.cli(["diff", "filled", "--stat"]);
    expect(shown.stdout).toContain("files that a tool installed or built: ignore the directory");
    expect(shown.stdout).toContain("agentbox ignore BOX DIRECTORY");
    const refused = await daemon.cli(["merge", "filled"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("--accept-danger installed");

    expect((await daemon.cli(["ignore", "filled", "a.txt"])).stderr).toContain("no directory that a tool");
    expect(await daemon.cli(["ignore", "filled", ".venv/"])).toMatchObject({ code: 0 });
    const after = await look("filled");
    expect(after.changes.map(({ path }) => path).toSorted()).toEqual([".gitignore", "a.txt"]);
    expect(after.dangers.some(({ path }) => path.startsWith(".venv"))).toBe(false);
    await daemon.cli(["diff", "filled", "--stat"]);
    const kinds = [...new Set(after.dangers.map(({ kind }) => kind))];
    const merged = await daemon.cli([
      "merge",
      "filled",
      ...kinds.flatMap((kind) => ["--accept-danger", kind]),
    ]);
    expect(merged.stderr + merged.stdout).toContain("Merged 2 files");
    expect(existsSync(join(project.dir, ".venv"))).toBe(false);
    expect(project.read(".gitignore")).toBe("/.venv/\n");
  });

  it("is taken out of the index, too, when the agent has committed it", async () => {
    await working(daemon, project, "committed", `${fill} git add -Af . && git commit -qm all`);
    expect((await look("committed")).dangers.some(({ kind }) => kind === "installed")).toBe(true);
    expect(await daemon.cli(["ignore", "committed", ".venv"])).toMatchObject({ code: 0 });
    expect((await look("committed")).changes.filter(({ path }) => path.startsWith(".venv"))).toEqual([]);
  });

  it("hides no planted file, and is none where files were there before", async () => {
    await working(
      daemon,
      project,
      "planted",
      `rm -f .gitignore; ${fill} mkdir .venv/.vscode && echo '{}' > .venv/.vscode/tasks.json && echo 'x' > .venv/.envrc
       ln -s .venv/bin/tool-1 Makefile; echo evil >> venv/run; chmod +x venv/run; mkdir node_modules && echo x > node_modules/install.sh`,
    );
    const { dangers } = await look("planted");
    const at = (path: string) => dangers.filter((danger) => danger.path === path).map(({ kind }) => kind);
    expect(at(".venv")).toEqual(["installed"]);
    expect(at(".venv/.vscode/tasks.json")).toContain("editor_task");
    expect(at(".venv/.envrc")).toContain("shell_rc");
    // What a link from elsewhere makes of a file in it is judged under the link's name.
    expect(at("Makefile")).toContain("build_file");
    // By its name alone, tracked or without a mark, a directory is nothing special.
    expect(at("venv/run")).not.toEqual([]);
    expect(dangers.some(({ kind, path }) => kind === "installed" && path !== ".venv")).toBe(false);
    expect(dangers.some(({ path }) => path.startsWith("node_modules/"))).toBe(true);
  });

  it("is one question with a real environment and a real install", async ({ skip }) => {
    const made = await runProgram(["python3", "-m", "venv", "--help"]);
    if (made.code !== 0) skip("python3 has no venv");
    await working(daemon, project, "real", "rm -f .gitignore; /usr/bin/python3 -m venv --without-pip .venv");
    const { dangers } = await look("real");
    expect(dangers.filter(({ path }) => path === ".venv" || path.startsWith(".venv/"))).toMatchObject([
      { kind: "installed", path: ".venv" },
    ]);
  });
});
