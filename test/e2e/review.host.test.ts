/** Looking at an agent's work: every kind of change, from every state of a box, without anything happening in it. */
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Checkpoint } from "../../src/contract/review/checkpoint.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { isRoot } from "../support/host-facts.ts";
import {
  codeOf,
  makeDirectory,
  makeProject,
  reviewOf,
  runIn,
  treeOf,
  worked,
  working,
} from "../support/review.ts";

const users = isRoot
  ? [
      { title: "as root", options: {} },
      { title: "as an ordinary user", options: { user: { uid: 64_222, gid: 64_222 } } },
    ]
  : [{ title: "as an ordinary user", options: {} }];

describe.each(users)("a review, $title", ({ options }) => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon(options);
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const files = {
    "kept.txt": "kept\n",
    "changed.txt": "one\ntwo\nthree\n",
    "deleted.txt": "gone\n",
    "moved.txt": Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join(""),
    "tool.sh": "#!/bin/sh\n",
    "becomes-link": "text\n",
    ".gitignore": "ignored/\n",
  };
  const script = `
    printf 'one\\n2\\nthree\\nfour\\n' > changed.txt
    rm deleted.txt
    git mv moved.txt renamed.txt
    git -c user.name=Agent -c user.email=agent@box commit -qm 'Move a file'
    printf 'new\\n' > added.txt
    head -c 2000 /dev/urandom > image.bin
    chmod +x tool.sh
    rm becomes-link && ln -s kept.txt becomes-link
    ln -s kept.txt link
    mkdir -p ignored && echo no > ignored/file`;

  it("shows every kind of change, committed or not, with totals and a patch that applies", async () => {
    const project = await makeProject(daemon, files);
    await worked(daemon, project, "kinds", script);
    const review = await reviewOf(daemon, "kinds");
    const seen = Object.fromEntries(review.changes.map((change) => [change.path, change]));
    expect(Object.keys(seen).toSorted()).toEqual(
      [
        "added.txt",
        "becomes-link",
        "changed.txt",
        "deleted.txt",
        "image.bin",
        "link",
        "renamed.txt",
        "tool.sh",
      ].toSorted(),
    );
    expect(seen["added.txt"]).toMatchObject({ kind: "added", newMode: "100644", added: 1, deleted: 0 });
    expect(seen["changed.txt"]).toMatchObject({ kind: "modified", added: 2, deleted: 1, isBinary: false });
    expect(seen["deleted.txt"]).toMatchObject({ kind: "deleted", newMode: "000000", deleted: 1 });
    expect(seen["renamed.txt"]).toMatchObject({ kind: "renamed", oldPath: "moved.txt", added: 0 });
    expect(seen["image.bin"]).toMatchObject({ kind: "added", isBinary: true, bytes: 2_000, added: 0 });
    expect(seen["tool.sh"]).toMatchObject({ oldMode: "100644", newMode: "100755", added: 0, deleted: 0 });
    expect(seen["link"]).toMatchObject({ kind: "added", newMode: "120000" });
    expect(seen["becomes-link"]).toMatchObject({ kind: "type_changed", newMode: "120000" });
    expect(review.totals).toEqual({
      files: 8,
      added: review.changes.reduce((sum, { added }) => sum + added, 0),
      deleted: review.changes.reduce((sum, { deleted }) => sum + deleted, 0),
    });

    const file = join(daemon.scratch, "kinds.patch");
    const exported = await daemon.cli(["export", "kinds", "--patch", file]);
    expect(exported.code, exported.stderr).toBe(0);
    await project.git("apply", file);
    const { workspace } = (await daemon.client.getBox("kinds")).paths;
    const { "ignored/file": _, ...inBox } = treeOf(workspace);
    const bare = (tree: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(tree).map(([path, facts]) => [path, facts.replace(/^\d+ /, "")]));
    expect(bare(treeOf(project.dir))).toEqual(bare(inBox));
  });

  it("of one path shows that path alone, and --stat no patch", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "paths", "echo a > a.txt; echo b > b.txt");
    const one = await daemon.cli(["diff", "paths", "a.txt"]);
    expect(one.stdout).toContain("+a\n");
    expect(one.stdout).not.toContain("b.txt");
    const stat = await daemon.cli(["diff", "paths", "--stat"]);
    expect(stat.stdout).toMatch(/a\.txt[\s\S]*b\.txt/);
    expect(stat.stdout).not.toContain("diff --git");
    const tool = await daemon.cli(["diff", "paths", "--tool", "grep -c '^diff --git'"]);
    expect(tool).toMatchObject({ code: 0, stdout: "2\n" });
  });

  it("puts dangers first, with a sentence each", async () => {
    const project = await makeProject(daemon, { "package.json": '{"name":"shop"}\n', "a.js": "1;\n" });
    await worked(
      daemon,
      project,
      "dangers",
      `mkdir -p .github/workflows .husky .claude .vscode
       echo 'on: push' > .github/workflows/ci.yml
       echo 'x' > .husky/pre-commit
       echo '{}' > .claude/settings.json
       echo '{}' > .vscode/tasks.json
       echo 'export A=1' > .envrc
       printf '{"name":"shop","scripts":{"postinstall":"curl evil"}}\\n' > package.json
       printf 'FROM scratch\\n' > Dockerfile; printf 'all:\\n' > Makefile
       ln -s ../../etc/passwd outside
       printf '#!/bin/sh\\n' > run.sh; chmod +x run.sh
       printf 'version = 1\\n' > agentbox.toml
       printf '* filter=x\\n' > .gitattributes
       printf 'const a = "\\342\\200\\256abc";\\n' > a.js`,
    );
    const { dangers } = await reviewOf(daemon, "dangers");
    const kinds = new Set(dangers.map(({ kind }) => kind));
    for (const kind of [
      "hook",
      "ci",
      "package_script",
      "editor_task",
      "shell_rc",
      "agent_settings",
      "build_file",
      "container_file",
      "executable",
      "symlink",
      "git_settings",
      "hidden_text",
      "manifest",
    ] as const)
      expect(kinds, kind).toContain(kind);
    for (const { why } of dangers) expect(why).toMatch(/^[A-Z`"].{10,}[.]$/s);
    const shown = await daemon.cli(["diff", "dangers", "--stat"]);
    expect(shown.stdout.indexOf("package_script")).toBeGreaterThanOrEqual(0);
    const ordinary = await reviewOf(daemon, "paths");
    expect(ordinary.dangers).toEqual([]);
  });

  it("leaves a stopped box stopped, a running one running, and no session in either", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "asleep", "echo a > a.txt");
    const before = (await daemon.client.getBox("asleep")).box;
    expect((await reviewOf(daemon, "asleep")).totals.files).toBe(1);
    const after = (await daemon.client.getBox("asleep")).box;
    expect(after.state).toEqual(before.state);
    const started = await daemon.client.listEvents({ box: "asleep", type: "box.started", limit: 10 });
    expect(started.events).toHaveLength(1);

    await working(daemon, project, "awake", "echo a > a.txt");
    const sessions = await daemon.client.listSessions("awake");
    expect((await reviewOf(daemon, "awake")).totals.files).toBe(1);
    expect((await daemon.client.listSessions("awake")).sessions).toEqual(sessions.sessions);
    await runIn(daemon, "awake", "echo b > b.txt");
    expect((await reviewOf(daemon, "awake")).totals.files).toBe(2);
  });

  it("of a paused box is what it was when somebody looked last", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "frozen", "echo a > a.txt");
    expect((await reviewOf(daemon, "frozen")).totals.files).toBe(1);
    await runIn(daemon, "frozen", "echo b > b.txt");
    expect((await daemon.cli(["pause", "frozen"])).code).toBe(0);
    expect((await reviewOf(daemon, "frozen")).totals.files).toBe(1);
    expect((await daemon.cli(["resume", "frozen"])).code).toBe(0);
    expect((await reviewOf(daemon, "frozen")).totals.files).toBe(2);
  });

  it("works for a directory that is no repository, and for a box that began with nothing", async () => {
    const directory = await makeDirectory(daemon, { "a.txt": "one\n", "b.txt": "b\n" });
    await worked(daemon, directory, "plain", "echo two >> a.txt; rm b.txt; mkdir d; echo new > d/c.txt");
    const plain = await reviewOf(daemon, "plain");
    expect(plain.changes.map(({ path, kind }) => `${kind} ${path}`).toSorted()).toEqual([
      "added d/c.txt",
      "deleted b.txt",
      "modified a.txt",
    ]);
    expect((await daemon.cli(["diff", "plain"])).stdout).toContain("+two");

    await worked(daemon, directory, "void", "echo made > made.txt", ["--workspace", "empty"]);
    expect((await reviewOf(daemon, "void")).changes).toMatchObject([{ path: "made.txt", kind: "added" }]);
    const file = join(daemon.scratch, "void.patch");
    expect((await daemon.cli(["export", "void", "--patch", file])).code).toBe(0);
    rmSync(file);
  });

  it("starts from a repository without a commit", async () => {
    const project = await makeDirectory(daemon, {});
    await project.git("init", "-q", "-b", "main");
    await worked(daemon, project, "unborn", "echo made > made.txt");
    expect((await reviewOf(daemon, "unborn")).changes).toMatchObject([{ path: "made.txt", kind: "added" }]);
  });

  it("has nothing to show where nothing has changed, and a mounted directory without a repository has no review", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "idle", "true");
    expect(await reviewOf(daemon, "idle")).toMatchObject({ changes: [], totals: { files: 0 }, dangers: [] });
    const none = join(daemon.scratch, "none.patch");
    for (const args of [
      ["merge", "idle"],
      ["export", "idle", "--patch", none],
    ]) {
      const answer = await daemon.cli(args);
      expect({ code: answer.code, said: codeOf(answer) }, args.join(" ")).toEqual({
        code: 4,
        said: "review.nothing",
      });
    }
    expect(existsSync(none)).toBe(false);
    expect((await daemon.cli(["checkpoints", "idle", "--json"])).stdout).toContain('"checkpoints": []');

    // Under a root daemon a box is another user, who must be able to enter what is mounted.
    const plain = await makeDirectory(daemon, { "a.txt": "a" });
    chmodSync(plain.dir, 0o777);
    await working(daemon, plain, "mounted", "true", { workspace: { mode: "mount" } });
    for (const args of [
      ["diff", "mounted"],
      ["merge", "mounted"],
      ["checkpoints", "mounted", "--take"],
    ])
      expect(codeOf(await daemon.cli(args)), args.join(" ")).toBe("review.unavailable");
  });
});

describe("checkpoints", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const checkpoints = async (box: string) =>
    (await daemon.json<{ checkpoints: Checkpoint[] }>(["checkpoints", box])).checkpoints;

  it("are taken when something has changed, named, listed and compared", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "states", "echo one > a.txt");
    expect((await daemon.cli(["checkpoints", "states", "--as", "before"])).code).toBe(0);
    expect((await daemon.cli(["checkpoints", "states", "--take"])).code).toBe(0);
    expect(await checkpoints("states")).toHaveLength(1);
    await runIn(daemon, "states", "echo two > b.txt; echo more >> a.txt");
    expect((await daemon.cli(["checkpoints", "states", "--take"])).code).toBe(0);
    expect(await checkpoints("states")).toMatchObject([
      { number: 1, name: "before", reason: "manual", totals: { files: 1 } },
      { number: 2, reason: "manual", totals: { files: 2 } },
    ]);
    const between = await reviewOf(daemon, "states", "--from", "before", "--to", "2");
    expect(between.changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      "modified a.txt",
      "added b.txt",
    ]);
    const first = await reviewOf(daemon, "states", "--to", "before");
    expect(first.changes.map(({ path }) => path)).toEqual(["a.txt"]);
    expect((await daemon.cli(["diff", "states", "--from", "1"])).stdout).toContain("+more");
    const unknown = await daemon.cli(["diff", "states", "--from", "9"]);
    expect({ code: unknown.code, said: codeOf(unknown) }).toEqual({ code: 3, said: "checkpoint.not_found" });
  });

  it("take up what comes after a commit that was looked at already, wherever the agent goes from there", async () => {
    const project = await makeProject(daemon);
    project.write("second.txt", "second\n");
    await project.commit("Second");
    const commit = "git add -A; git -c user.name=a -c user.email=a@b.test commit -qm work";
    await working(daemon, project, "onward", `echo 1 > a.txt; ${commit}; echo 2 > a.txt; ${commit}`);
    const paths = async () => (await reviewOf(daemon, "onward")).changes.map(({ path }) => path);
    expect(await paths()).toEqual(["a.txt"]);
    await runIn(daemon, "onward", "echo 3 > b.txt");
    expect(await paths()).toEqual(["a.txt", "b.txt"]);
    await runIn(daemon, "onward", `${commit}; git reset -q --hard HEAD~2; echo 4 > c.txt`);
    expect(await paths()).toEqual(["a.txt", "c.txt"]);
    await runIn(daemon, "onward", "git stash -q -u; git checkout -q --detach HEAD~2; echo 5 > d.txt");
    expect(await paths()).toEqual(["d.txt", "second.txt"]);
    await runIn(
      daemon,
      "onward",
      "git checkout -q --orphan fresh; git rm -rqf .; rm -f d.txt; echo 6 > e.txt",
    );
    expect(await paths()).toContain("e.txt");
  });

  it("of the base brings back the commit the box began with", async () => {
    const project = await makeProject(daemon);
    project.write("second.txt", "second\n");
    const base = await project.commit("Second");
    const commit = "git add -A; git -c user.name=a -c user.email=a@b.test commit -qm work";
    await working(daemon, project, "restart", `echo 1 > a.txt; ${commit}`);
    const restored = await daemon.cli(["checkpoints", "restart", "--restore", "base"]);
    expect(restored.code, restored.stderr).toBe(0);
    const { stdout } = await runIn(daemon, "restart", "git rev-parse HEAD; git status --porcelain; ls");
    expect(stdout).toBe(`${base}\nREADME.md\nsecond.txt\nsrc\n`);
    expect((await reviewOf(daemon, "restart")).totals.files).toBe(0);
  });

  it("are restored exactly, after what was there has been kept", async () => {
    const project = await makeProject(daemon);
    await working(
      daemon,
      project,
      "back",
      "echo one > a.txt; rm README.md; ln -s a.txt link; chmod +x src/cart.js",
    );
    const { workspace } = (await daemon.client.getBox("back")).paths;
    const before = treeOf(workspace);
    await daemon.cli(["checkpoints", "back", "--as", "good"]);
    await runIn(
      daemon,
      "back",
      "git add -A; git -c user.name=a -c user.email=a@b commit -qm x; echo bad > a.txt; echo bad > bad.txt; mkdir e; echo x > e/f; rm link",
    );
    const bad = treeOf(workspace);
    const restored = await daemon.cli(["checkpoints", "back", "--restore", "good"]);
    expect(restored.code, restored.stderr).toBe(0);
    expect(treeOf(workspace)).toEqual(before);
    expect((await reviewOf(daemon, "back")).totals).toEqual((await checkpoints("back"))[0]?.totals);
    const kept = (await checkpoints("back")).find(({ reason }) => reason === "restore");
    expect(kept).toMatchObject({ number: 2 });
    expect((await daemon.cli(["checkpoints", "back", "--restore", "2"])).code).toBe(0);
    expect(treeOf(workspace)).toEqual(bad);
  });

  it("are restored in a stopped box and in one without a repository, too", async () => {
    const directory = await makeDirectory(daemon, { "a.txt": "one\n" });
    await worked(daemon, directory, "plain-back", "echo two > a.txt; echo new > b.txt");
    const { workspace } = (await daemon.client.getBox("plain-back")).paths;
    await daemon.cli(["checkpoints", "plain-back", "--as", "work"]);
    const restored = await daemon.cli(["checkpoints", "plain-back", "--restore", "base"]);
    expect(restored.code, restored.stderr).toBe(0);
    expect(Object.keys(treeOf(workspace))).toEqual(["a.txt"]);
    expect((await reviewOf(daemon, "plain-back")).totals.files).toBe(0);
    expect((await daemon.cli(["checkpoints", "plain-back", "--restore", "work"])).code).toBe(0);
    expect((await reviewOf(daemon, "plain-back")).totals.files).toBe(2);
    expect((await daemon.client.getBox("plain-back")).box.state.phase).toBe("stopped");
  });

  it("become boxes of their own, which share nothing with where they came from", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "origin", "echo one > a.txt");
    await daemon.cli(["checkpoints", "origin", "--as", "one"]);
    await runIn(daemon, "origin", "echo two > a.txt");
    const forked = await daemon.cli(["checkpoints", "origin", "one", "--fork", "forked"]);
    expect(forked.code, forked.stderr).toBe(0);
    expect((await daemon.cli(["start", "forked"])).code).toBe(0);
    expect((await runIn(daemon, "forked", "cat a.txt")).stdout).toBe("one\n");
    expect((await reviewOf(daemon, "forked")).changes).toMatchObject([{ path: "a.txt", kind: "added" }]);
    await runIn(daemon, "forked", "echo three > a.txt; echo x > only-here");
    expect((await runIn(daemon, "origin", "cat a.txt; ls")).stdout).toBe("two\nREADME.md\na.txt\nsrc\n");
    const taken = await daemon.cli(["checkpoints", "origin", "--fork", "forked"]);
    expect(codeOf(taken)).toBe("box.name_taken");
  });

  it("become boxes with the same work, also when the person has gone on meanwhile", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "early", "echo one > a.txt");
    project.write("README.md", "# Later\n");
    project.write("later.txt", "later\n");
    await project.commit("Later");
    const forked = await daemon.cli(["checkpoints", "early", "--fork", "late"]);
    expect(forked.code, forked.stderr).toBe(0);
    expect((await reviewOf(daemon, "late")).changes.map(({ path }) => path)).toEqual(["a.txt"]);
    expect((await daemon.cli(["merge", "late", "--unseen"])).code).toBe(0);
    expect(project.read("later.txt") + project.read("README.md")).toBe("later\n# Later\n");
  });

  it("outlive a crash of the daemon", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "durable", "echo one > a.txt");
    const before = await reviewOf(daemon, "durable");
    await daemon.kill();
    await daemon.start();
    const after = await reviewOf(daemon, "durable");
    expect({ digest: after.digest, checkpoint: after.checkpoint }).toEqual({
      digest: before.digest,
      checkpoint: before.checkpoint,
    });
  });

  it("go with their box", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "gone", "echo one > a.txt");
    const kept = await reviewOf(daemon, "gone");
    expect((await daemon.cli(["discard", "gone", "--yes"])).code).toBe(0);
    expect(codeOf(await daemon.cli(["diff", "gone"]))).toBe("box.not_found");
    // A box of the same name is another box.
    await worked(daemon, project, "gone", "true");
    expect(await checkpoints("gone")).toEqual([]);
    expect((await reviewOf(daemon, "gone")).digest).not.toBe(kept.digest);
  });
});
