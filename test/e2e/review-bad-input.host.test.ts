/** Hostile names, paths and bundles: a coded error or a safe result, in bounded time. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import {
  acceptingAll,
  codeOf,
  makeProject,
  merge,
  type Project,
  reviewOf,
  runIn,
  stateOf,
  worked,
  working,
} from "../support/review.ts";

describe("bad input to a review", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const hostile = [
    "",
    " ",
    "-",
    "--",
    "-x",
    "--help",
    "..",
    "../../etc",
    "HEAD",
    "refs/heads/main",
    "@{1}",
    "1..2",
    "x\ny",
    "$(touch x)",
    "\u001b[31m",
    "é",
    "99999999999999999999",
    "x".repeat(500),
  ];

  it("of checkpoints: unknown ones are not found, and bad names are refused", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "named", "echo a > a.txt");
    expect((await daemon.cli(["checkpoints", "named", "--as", "good-name-1"])).code).toBe(0);
    for (const name of hostile) {
      for (const args of [
        ["diff", "named", `--from=${name}`],
        ["diff", "named", `--to=${name}`],
        ["checkpoints", "named", `--restore=${name}`],
        ["checkpoints", "named", `--as=${name}`],
        ["checkpoints", "named", `--fork=${name}`],
      ]) {
        const answer = await daemon.cli(args);
        expect(answer.code, JSON.stringify(args)).not.toBe(0);
        expect(
          ["checkpoint.not_found", "input.invalid", "box.name_invalid", "cli.usage"],
          args.join(" "),
        ).toContain(codeOf(answer));
      }
    }
    for (const taken of ["base", "latest", "7"])
      expect(codeOf(await daemon.cli(["checkpoints", "named", "--as", taken])), taken).toBe("input.invalid");
    expect((await daemon.client.listBoxes()).map(({ name }) => name)).toEqual(["named"]);
    const left = (await daemon.client.listCheckpoints("named")).map(({ name }) => name);
    expect(left).toEqual(["good-name-1"]);
    expect((await runIn(daemon, "named", "cat a.txt")).stdout).toBe("a\n");
  }, 180_000);

  it("of a box that is not there", async () => {
    const file = join(daemon.scratch, "x.patch");
    for (const args of [
      ["diff", "nobody"],
      ["merge", "nobody"],
      ["undo", "nobody"],
      ["discard", "nobody", "--yes"],
      ["export", "nobody", "--patch", file],
      ["check", "nobody"],
      ["comment", "nobody"],
      ["checkpoints", "nobody"],
      ["race", "--pick", "nobody"],
    ])
      expect(["box.not_found", "review.nothing"], args.join(" ")).toContain(codeOf(await daemon.cli(args)));
    expect(existsSync(file)).toBe(false);
  });

  describe("of paths", () => {
    let project: Project;
    beforeAll(async () => {
      project = await makeProject(daemon);
    });

    it("with newlines, quotes and bytes that are no text come through, and land as they are", async () => {
      await worked(
        daemon,
        project,
        "odd",
        `node -e '
           const { writeFileSync, mkdirSync } = require("fs");
           const names = ["new\\nline", "quote\\"d", "it\\x27s", "tab\\tbed", "back\\\\slash", "-dash", "--help", " lead", "trail ", ":(top)x", "*", "é☃", "\\x1b[31mred"];
           for (const name of names) writeFileSync(name, "odd\\n");
           mkdirSync("d"); writeFileSync(Buffer.from([0x64, 0x2f, 0xff, 0xfe, 0x41]), "odd\\n");'`,
      );
      const review = await reviewOf(daemon, "odd");
      expect(review.totals.files).toBe(14);
      const paths = review.changes.map(({ path }) => path);
      expect(paths).toEqual(
        expect.arrayContaining([
          "new\nline",
          'quote"d',
          "it's",
          "back\\slash",
          "--help",
          ":(top)x",
          "*",
          "é☃",
        ]),
      );
      expect(review.changes.find(({ rawPath }) => rawPath !== undefined)).toMatchObject({
        rawPath: "642ffffe41",
      });
      // A terminal's output has no control characters of the agent's.
      const stat = await daemon.cli(["diff", "odd", "--stat"]);
      expect(stat.stdout).not.toContain("\u001b[31mred");
      // Paths are names, not patterns.
      for (const [path, count] of [
        ["*", 1],
        [":(top)x", 1],
        ["new\nline", 1],
        [":(exclude)x", 0],
        ["../..", 0],
        ["/etc/passwd", 0],
      ] as const) {
        const one = await daemon.cli(["diff", "odd", path]);
        expect(one.stdout.split("diff --git").length - 1, path).toBe(count);
      }
      const merged = await merge(daemon, "odd", ...(await acceptingAll(daemon, "odd")));
      expect(merged.code, merged.stderr).toBe(0);
      expect(readFileSync(join(project.dir, "new\nline"), "utf8")).toBe("odd\n");
      const raw = readdirSync(Buffer.from(join(project.dir, "d")), { encoding: "buffer" });
      expect(raw.map((name) => name.toString("hex"))).toEqual(["fffe41"]);
      expect(await project.git("status", "--porcelain")).toBe("");
      expect((await daemon.cli(["undo"], { cwd: project.dir })).code).toBe(0);
      expect(readdirSync(project.dir).toSorted()).toEqual([".git", "README.md", "src"]);
    });

    it("that differ in case only are marked, and land where they can", async () => {
      await worked(
        daemon,
        project,
        "cases",
        "echo lower > one.md; echo upper > ONE.md; mkdir d D; echo x > d/x; echo X > D/x",
      );
      const { dangers } = await reviewOf(daemon, "cases");
      expect(dangers.map(({ kind }) => kind)).toContain("path_trick");
      expect((await merge(daemon, "cases", ...(await acceptingAll(daemon, "cases")))).code).toBe(0);
      expect(project.read("one.md") + project.read("ONE.md")).toBe("lower\nupper\n");
      expect((await daemon.cli(["undo"], { cwd: project.dir })).code).toBe(0);
    });

    it.each([300, 1_000])("of %i levels", async (levels) => {
      const deep = Array.from({ length: levels }, () => "d").join("/");
      await worked(daemon, project, `deep-${levels}`, `mkdir -p ${deep}; echo deep > ${deep}/file`);
      const review = await daemon.cli(["diff", `deep-${levels}`, "--json"]);
      const before = await stateOf(project);
      const accept = await acceptingAll(daemon, `deep-${levels}`);
      const merged = await merge(daemon, `deep-${levels}`, ...accept);
      if (merged.code === 0) {
        expect(project.read(`${deep}/file`)).toBe("deep\n");
        expect((await daemon.cli(["undo"], { cwd: project.dir })).code).toBe(0);
      } else expect(codeOf(merged), merged.stderr).toMatch(/^(review|merge)\./);
      expect(await stateOf(project)).toEqual(before);
      if (levels === 300) expect([review.code, merged.code]).toEqual([0, 0]);
    });

    it.each([
      ".GIT/config",
      "git~1/config",
      ".git./config",
      ".git /config",
      "a/.Git/hooks/pre-commit",
      ".g\u200cit/config",
    ])("that mean .git elsewhere are refused: %s", async (path) => {
      const box = `trick-${path.replaceAll(/[^a-z]/g, "")}`;
      const before = await stateOf(project);
      await working(
        daemon,
        project,
        box,
        `git config core.protectNTFS false; git config core.protectHFS false
           mkdir -p '${join(path, "..")}'; echo '[core] fsmonitor = touch x' > '${path}'; git add -f '${path}' || true; echo a > ordinary.txt`,
      );
      const answer = await daemon.cli(["diff", box, "--json"]);
      const isShown = answer.code === 0 && answer.stdout.includes(JSON.stringify(path).slice(1, -1));
      if (isShown)
        expect((await reviewOf(daemon, box)).dangers.map(({ kind }) => kind)).toContain("path_trick");
      else if (answer.code !== 0) expect(codeOf(answer), answer.stderr).toMatch(/^review\./);
      const merged = await merge(daemon, box);
      expect(merged.code === 0 && isShown).toBe(false);
      if (merged.code === 0) await daemon.cli(["undo"], { cwd: project.dir });
      expect(await stateOf(project)).toEqual(before);
      await daemon.client.removeBox(box, { force: true });
    });
  });

  it("with things in the workspace that are no files", async () => {
    const project = await makeProject(daemon);
    await working(
      daemon,
      project,
      "things",
      `mkfifo pipe; mkdir shut && echo x > shut/x && chmod 0 shut; echo secret > unreadable; chmod 0 unreadable
       node -e 'require("net").createServer().listen("socket", () => process.exit())'
       mkdir inner && cd inner && git init -q && echo x > x; cd ..; mkdir empty; echo a > a.txt`,
    );
    const answer = await daemon.cli(["diff", "things", "--json"]);
    expect(answer.code, answer.stderr).toBe(0);
    expect((await reviewOf(daemon, "things")).changes.map(({ path }) => path)).toContain("a.txt");
    expect((await merge(daemon, "things", ...(await acceptingAll(daemon, "things")))).code).toBe(0);
    expect(existsSync(join(project.dir, "pipe"))).toBe(false);
  });

  it("with a file of 200 MB, in the time that a request has", async () => {
    const project = await makeProject(daemon);
    await worked(daemon, project, "large", "head -c 200000000 /dev/urandom > large.bin; echo a > a.txt");
    const answer = await daemon.cli(["diff", "large", "--json"], { timeoutMs: 100_000 });
    if (answer.code === 0) {
      const { dangers } = JSON.parse(answer.stdout) as { dangers: { kind: string }[] };
      expect(dangers.map(({ kind }) => kind)).toContain("large_binary");
      expect(codeOf(await merge(daemon, "large"))).toBe("merge.danger");
    } else expect(codeOf(answer)).toBe("review.too_large");
    await daemon.client.removeBox("large", { force: true });
  }, 180_000);

  it.each([
    { name: "garbage", body: "echo garbage; exit 0" },
    { name: "refs", body: "exec /usr/bin/git bundle create -q - --all" },
  ])("of a box with a git of its own that sends $name", async ({ name, body }) => {
    const project = await makeProject(daemon);
    const box = `sends-${name}`;
    const fake = `#!/bin/sh\ncase "$1" in bundle|pack-objects) ${body};; esac\nexec /usr/bin/git "$@"`;
    await working(
      daemon,
      project,
      box,
      `echo a > a.txt; mkdir -p ~/.local/bin ~/bin
       for file in ~/.local/bin/git ~/bin/git; do echo '${fake}' > $file; chmod +x $file; done
       echo 'PATH=$HOME/bin:$HOME/.local/bin:$PATH' | tee ~/.profile ~/.bashrc ~/.bash_profile > /dev/null
       git config alias.bundle '!echo garbage'; git config alias.add '!true'`,
    );
    // The control: who looks there finds it.
    expect(
      (await runIn(daemon, box, "PATH=$HOME/bin:$PATH; git bundle create - HEAD | head -c 7")).stdout,
    ).toMatch(/^(garbage|# v2 gi)/);
    expect((await reviewOf(daemon, box)).changes.map(({ path }) => path)).toEqual(["a.txt"]);
  });

  it.each([
    { name: "head", script: "echo broken > .git/HEAD" },
    { name: "gone", script: "rm -rf .git" },
    { name: "index", script: "head -c 100 /dev/urandom > .git/index" },
    { name: "objects", script: "rm -rf .git/objects; mkdir .git/objects" },
    { name: "filter", script: "git config filter.x.process false; echo '* filter=x' > .gitattributes" },
    { name: "config", script: "echo '[broken' > .git/config" },
    { name: "locked", script: "touch .git/index.lock .git/HEAD.lock" },
    { name: "worktree", script: "git config core.worktree /tmp" },
    { name: "bare", script: "git config core.bare true" },
  ])("of a repository that does not work any more: $name", async ({ name, script }) => {
    const project = await makeProject(daemon);
    const box = `broken-${name}`;
    await working(daemon, project, box, `echo a > a.txt; ${script}`);
    const before = await stateOf(project);
    const answer = await daemon.cli(["diff", box]);
    if (answer.code !== 0) expect(codeOf(answer), answer.stderr).toMatch(/^review\.(failed|bad_bundle)$/);
    else expect(answer.stdout).toContain("a.txt");
    expect(await stateOf(project)).toEqual(before);
    // The daemon goes on, and so does the box.
    expect((await runIn(daemon, box, "cat a.txt")).stdout).toBe("a\n");
  });

  it("of a box that keeps its git from ending: it is stopped all the same", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "frozen", "echo a > a.txt");
    const freeze = `const fs = require("node:fs");
      for (;;) for (const pid of fs.readdirSync("/proc")) {
        if (!/^[0-9]+$/.test(pid)) continue;
        try { if (fs.readFileSync("/proc/" + pid + "/comm", "latin1") === "git\\n") process.kill(Number(pid), "SIGSTOP"); } catch {}
      }`;
    await runIn(daemon, "frozen", `setsid node -e '${freeze}' > /dev/null 2>&1 & sleep 1`);
    const { code, stderr } = await daemon.cli(["stop", "frozen"], { timeoutMs: 50_000 });
    expect(code, stderr).toBe(0);
    expect((await daemon.client.getBox("frozen")).box.state.phase).toBe("stopped");
  }, 90_000);
});
