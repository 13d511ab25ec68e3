/** Landing an agent's work in a person's repository: all of it or nothing, what was looked at, and exactly back again. */
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { isRoot } from "../support/host-facts.ts";
import {
  accepting,
  acceptingAll,
  codeOf,
  makeProject,
  merge,
  reviewOf,
  runIn,
  stateOf,
  treeOf,
  worked,
  working,
} from "../support/review.ts";

const asAgent = "git -c user.name=Robo -c user.email=robo@example.org";

const users = isRoot
  ? [
      { title: "as root", options: {} },
      { title: "as an ordinary user", options: { user: { uid: 64_222, gid: 64_222 } } },
    ]
  : [{ title: "as an ordinary user", options: {} }];

describe.each(users)("a merge, $title", ({ options }) => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon(options);
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  it("is refused while a danger is not accepted, by name and by kind", async () => {
    const project = await makeProject(daemon);
    await worked(
      daemon,
      project,
      "risky",
      "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml; echo 'use flake' > .envrc",
    );
    const before = await stateOf(project);
    const refused = await merge(daemon, "risky");
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 5, said: "merge.danger" });
    expect(refused.stderr).toMatch(/ci.*shell_rc|shell_rc.*ci/s);
    const half = await merge(daemon, "risky", "--accept-danger", "ci");
    expect(codeOf(half)).toBe("merge.danger");
    expect(half.stderr).toContain("shell_rc");
    expect(half.stderr).not.toMatch(/accepted: .*\bci\b/);
    const unknown = await daemon.cli(["merge", "risky", "--accept-danger", "all"]);
    expect(codeOf(unknown)).toBe("input.invalid");
    expect(await stateOf(project)).toEqual(before);

    const merged = await merge(daemon, "risky", ...accepting(["ci", "shell_rc"]));
    expect(merged.code, merged.stderr).toBe(0);
    expect(project.read(".envrc")).toBe("use flake\n");
  });

  it("as one commit keeps the author, names box and agent, and lands files and modes", async () => {
    const project = await makeProject(daemon);
    await worked(
      daemon,
      project,
      "one",
      `echo a > a.txt; git add -A; ${asAgent} commit -qm 'Add a'; echo b > b.txt; rm README.md; ln -s a.txt link`,
    );
    const [head] = (await project.git("rev-parse", "HEAD")).split("\n");
    const { record, stderr } = await merge(
      daemon,
      "one",
      "-m",
      "Land it",
      ...(await acceptingAll(daemon, "one")),
    );
    expect(record, stderr).toMatchObject({
      box: "one",
      mode: "squash",
      branch: "refs/heads/main",
      before: head,
    });
    const [subject, author, parent, trailers] = (
      await project.git("log", "-1", "--format=%s%x00%an <%ae>%x00%P%x00%(trailers)")
    ).split("\0");
    expect({ subject, author, parent }).toEqual({
      subject: "Land it",
      author: "Robo <robo@example.org>",
      parent: head,
    });
    expect(trailers).toMatch(/AgentBox-Box: one\nAgentBox-Agent: shell/);
    expect(await project.git("log", "-1", "--format=%cn")).toBe("Pat Person\n");
    expect(await project.git("status", "--porcelain")).toBe("");
    expect(Object.keys(treeOf(project.dir))).toEqual(["a.txt", "b.txt", "link", "src/cart.js"]);
    // Files belong to the person, not to the daemon's user.
    expect(statSync(join(project.dir, "b.txt")).uid).toBe(statSync(project.dir).uid);

    // Once is enough.
    const again = await merge(daemon, "one", ...(await acceptingAll(daemon, "one")));
    expect({ code: again.code, said: codeOf(again) }).toEqual({ code: 4, said: "review.nothing" });
  });

  it("as commits keeps them one by one, and what was not committed comes last", async () => {
    const project = await makeProject(daemon);
    await worked(
      daemon,
      project,
      "many",
      `for n in 1 2; do echo $n > $n.txt; git add -A; ${asAgent} commit -qm "Commit $n"; done; echo rest > rest.txt`,
    );
    const { code, stderr } = await merge(daemon, "many", "--mode", "commits", ...accepting(["commit"]));
    expect(code, stderr).toBe(0);
    const log = (await project.git("log", "--reverse", "--format=%s|%an")).trim().split("\n");
    expect(log.slice(0, 3)).toEqual(["First|Pat Person", "Commit 1|Robo", "Commit 2|Robo"]);
    expect(project.read("rest.txt")).toBe("rest\n");
    expect(await project.git("status", "--porcelain")).toBe("");
  });

  it("as a patch changes files alone", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "files", "echo a > a.txt; echo more >> README.md");
    const head = await project.git("rev-parse", "HEAD");
    const { code, stderr } = await merge(daemon, "files", "--mode", "patch");
    expect(code, stderr).toBe(0);
    expect(await project.git("rev-parse", "HEAD")).toBe(head);
    expect(project.read("README.md")).toBe("# Shop\nmore\n");
    const before = await daemon.cli(["undo"], { cwd: project.dir });
    expect(before.code, before.stderr).toBe(0);
    expect(await project.git("status", "--porcelain")).toBe("");
    expect(existsSync(join(project.dir, "a.txt"))).toBe(false);
  });

  it.each(["squash", "commits", "patch"])(
    "(%s) leaves a person's uncommitted work as it is, and undo restores everything",
    async (mode) => {
      const project = await makeProject(daemon, {
        "README.md": "# Shop\n",
        "staged.txt": "old\n",
        "unstaged.txt": "old\n",
        "both.txt": "old\n",
        ".gitignore": "secret.env\n",
      });
      await worked(
        daemon,
        project,
        `dirty-${mode}`,
        `echo a > a.txt; echo new >> README.md; git add -A; ${asAgent} commit -qm A`,
      );
      project.write("staged.txt", "staged\n");
      project.write("both.txt", "staged\n");
      await project.git("add", "staged.txt", "both.txt");
      project.write("both.txt", "staged and more\n");
      project.write("unstaged.txt", "unstaged \r\n");
      project.write("untracked.txt", "mine\n");
      project.write("secret.env", "KEY=1\n");
      const before = await stateOf(project);
      const { code, stderr } = await merge(daemon, `dirty-${mode}`, "--mode", mode, ...accepting(["commit"]));
      expect(code, stderr).toBe(0);
      const own = ["staged.txt", "unstaged.txt", "both.txt", "untracked.txt", "secret.env"];
      const pick = (tree: Readonly<Record<string, string>>) => own.map((path) => tree[path]);
      expect(pick(treeOf(project.dir))).toEqual(pick(before["files"] as Record<string, string>));
      expect(await project.git("show", ":staged.txt")).toBe("staged\n");
      expect(await project.git("show", ":both.txt")).toBe("staged\n");
      expect(await project.git("show", "HEAD:staged.txt")).toBe("old\n");
      expect(project.read("a.txt")).toBe("a\n");

      const undone = await daemon.cli(["undo"], { cwd: project.dir });
      expect(undone.code, undone.stderr).toBe(0);
      const after = await stateOf(project);
      expect({ ...after, index: undefined }).toEqual({ ...before, index: undefined });
      expect(await project.git("stash", "list")).toBe("");
      const nothing = await daemon.cli(["undo"], { cwd: project.dir });
      expect(codeOf(nothing)).toBe("review.nothing");
    },
  );

  it("is refused where uncommitted work is in the way, and nothing is changed", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "clash", "echo agent >> README.md; echo agent > new.txt");
    project.write("README.md", "# Mine\n");
    project.write("new.txt", "mine\n");
    const before = await stateOf(project);
    const refused = await merge(daemon, "clash");
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 4, said: "merge.dirty" });
    expect(refused.stderr).toMatch(/README\.md/);
    expect(refused.stderr).toMatch(/new\.txt/);
    expect(await stateOf(project)).toEqual(before);
  });

  it("combines both sides, and reports a conflict with both and changes nothing", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "sides", "sed -i '1s/.*/agent/' src/cart.js");
    project.write("src/cart.js", project.read("src/cart.js").replace("line20 = 20", "line20 = 'mine'"));
    await project.commit("Mine");
    expect((await merge(daemon, "sides")).code).toBe(0);
    expect(project.read("src/cart.js")).toMatch(/^agent\n[\s\S]*line20 = 'mine'/);

    await worked(
      daemon,
      project,
      "conflicting",
      "sed -i '5s/.*/agent five/' src/cart.js; echo fine > fine.txt",
    );
    project.write("src/cart.js", project.read("src/cart.js").replace("line5 = 5", "line5 = 'mine'"));
    await project.commit("Mine again");
    const before = await stateOf(project);
    const refused = await daemon.cli(["merge", "conflicting", "--unseen", "--json"]);
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 4, said: "merge.conflict" });
    const said = refused.stderr + refused.stdout;
    expect(said).toContain("src/cart.js");
    expect(said).toContain("line5 = 'mine'");
    expect(said).toContain("agent five");
    expect(await stateOf(project)).toEqual(before);
    expect(await project.git("fsck", "--no-dangling")).toBe("");
  });

  it("is taken back after more work only where nothing stands in the way", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "later", "echo a > a.txt");
    expect((await merge(daemon, "later")).code).toBe(0);
    project.write("mine.txt", "mine\n");
    await project.commit("On top");
    const before = await stateOf(project);
    const refused = await daemon.cli(["undo", "later"]);
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 4, said: "merge.cannot_undo" });
    expect(await stateOf(project)).toEqual(before);
  });

  it("goes to the branch that is checked out, and where there is none only as a patch", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "elsewhere", "echo a > a.txt");
    await project.git("checkout", "-q", "-b", "topic");
    const main = await project.git("rev-parse", "main");
    expect((await merge(daemon, "elsewhere")).record).toMatchObject({ branch: "refs/heads/topic" });
    expect(await project.git("rev-parse", "main")).toBe(main);

    await worked(daemon, project, "detached", "echo b > b.txt");
    await project.git("checkout", "-q", "--detach");
    const before = await stateOf(project);
    expect(codeOf(await merge(daemon, "detached"))).toBe("merge.failed");
    expect(await stateOf(project)).toEqual(before);
    const { record, stderr } = await merge(daemon, "detached", "--mode", "patch");
    expect(record, stderr).toBeDefined();
    expect(project.read("b.txt")).toBe("b\n");
  });

  it("goes on with a box that goes on: the second merge brings what is new", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "steps", "echo 1 > a.txt");
    expect((await merge(daemon, "steps", "-m", "One")).code).toBe(0);
    await runIn(daemon, "steps", "echo 2 >> a.txt; echo b > b.txt");
    const { code, stderr } = await merge(daemon, "steps", "-m", "Two");
    expect(code, stderr).toBe(0);
    expect(project.read("a.txt")).toBe("1\n2\n");
    expect(await project.git("show", "--stat=200", "--format=%s", "HEAD")).toMatch(
      /Two[\s\S]*a\.txt[\s\S]*b\.txt/,
    );
  });

  it("is exported as a patch and as a bundle, and discarded", async () => {
    const project = await makeProject(daemon);
    await worked(
      daemon,
      project,
      "out",
      `echo a > a.txt; git add -A; ${asAgent} commit -qm A; head -c 100 /dev/zero > b.bin`,
    );
    const before = await stateOf(project);
    const [patch, bundle] = [join(daemon.scratch, "out.patch"), join(daemon.scratch, "out.bundle")];
    expect((await daemon.cli(["export", "out", "--patch", patch])).code).toBe(0);
    const exported = await daemon.cli(["export", "out", "--bundle", bundle]);
    expect(exported.code, exported.stderr).toBe(0);
    expect(await stateOf(project)).toEqual(before);
    for (const file of [patch, bundle]) expect(statSync(file).uid).toBe(statSync(daemon.scratch).uid);

    await project.git("apply", "--check", patch);
    const heads = await project.git("bundle", "list-heads", bundle);
    const [ref] = heads.split("\n").map((line) => line.split(" ")[1]);
    await project.git("fetch", "-q", bundle, `${ref}:refs/heads/from-bundle`);
    expect(await project.git("show", "from-bundle:a.txt")).toBe("a\n");
    expect(await project.git("diff", "--name-only", "main", "from-bundle")).toBe("a.txt\nb.bin\n");
    const twice = await daemon.cli(["export", "out", "--patch", patch]);
    expect(twice.code === 0 || codeOf(twice) !== undefined).toBe(true);
    expect(readFileSync(patch, "utf8")).toContain("GIT binary patch");

    expect((await daemon.cli(["discard", "out", "--yes"])).code).toBe(0);
    expect((await daemon.client.listBoxes()).map(({ name }) => name)).not.toContain("out");
    await project.git("branch", "-D", "from-bundle");
    expect((await stateOf(project))["files"]).toEqual(before["files"]);
    for (const file of [patch, bundle]) rmSync(file);
  });

  it("can be undone after its box is gone", async () => {
    const project = await makeProject(daemon);
    const before = await stateOf(project);
    await worked(daemon, project, "brief", "echo a > a.txt");
    expect((await merge(daemon, "brief")).code).toBe(0);
    expect((await daemon.cli(["rm", "--force", "brief"])).code).toBe(0);
    const undone = await daemon.cli(["undo"], { cwd: project.dir });
    expect(undone.code, undone.stderr).toBe(0);
    expect({ ...(await stateOf(project)), index: 0 }).toEqual({ ...before, index: 0 });
  });

  it("takes a person's own uncommitted work along when asked to, and does not call it the agent's", async () => {
    const project = await makeProject(daemon);
    project.write("README.md", "# Mine\n");
    project.write("draft.txt", "draft\n");
    const before = await stateOf(project);
    await working(daemon, project, "carried", "cat README.md draft.txt; echo a > a.txt", {
      workspace: { mode: "clone", carry: "dirty" },
    });
    expect(await stateOf(project)).toEqual(before);
    expect((await runIn(daemon, "carried", "cat README.md draft.txt")).stdout).toBe("# Mine\ndraft\n");
    expect((await reviewOf(daemon, "carried")).changes.map(({ path }) => path)).toEqual(["a.txt"]);
    const { code, stderr } = await merge(daemon, "carried");
    expect(code, stderr).toBe(0);
    expect(project.read("draft.txt")).toBe("draft\n");
    expect(await project.git("show", "--name-only", "--format=", "HEAD")).toBe("a.txt\n");
  });
});
