import { execFileSync } from "node:child_process";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { WorkspaceSpec } from "../../contract/box.ts";
import { run } from "../../host/run.ts";
import { isHostGitRepository, openWorkspaces } from "./index.ts";

const isRoot = process.getuid!() === 0;
const owner = isRoot ? { uid: 54_321, gid: 54_321 } : { uid: process.getuid!(), gid: process.getgid!() };
let dir: string;
let source: string;
let serial = 0;

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "ab-workspace-")));
  source = join(dir, "source");
  await mkdir(join(dir, "user"));
  await writeFile(
    join(dir, "user/.gitconfig"),
    "[user]\n\tname = A Person\n\temail = person@example.com\n[core]\n\texcludesFile = ~/ignored\n",
  );
  await writeFile(join(dir, "user/ignored"), "globally-ignored\n");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const workspaces = (limits?: { maxFiles: number; maxBytes: number }) =>
  openWorkspaces({
    isRoot,
    userHome: join(dir, "user"),
    agentboxHome: join(dir, "agentbox"),
    ...omitUndefined({ limits }),
  });

/** Plain git, as a person would run it. */
const plain = (args: string[], cwd = source): string =>
  execFileSync("git", ["-c", "safe.directory=*", ...args], {
    cwd,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: join(dir, "user"), GIT_CONFIG_NOSYSTEM: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  }).toString();

async function makeRepository(
  files: Record<string, string> = { "a.txt": "one\n", "sub/b.txt": "two\n" },
): Promise<void> {
  await mkdir(source, { recursive: true });
  plain(["init", "-q", "-b", "main"]);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(source, path, ".."), { recursive: true });
    await writeFile(join(source, path), content);
  }
  plain(["add", "-A"]);
  plain(["commit", "-q", "--allow-empty", "-m", "first"]);
}

async function prepare(spec: Partial<WorkspaceSpec> = {}, limits?: { maxFiles: number; maxBytes: number }) {
  const target = join(dir, `target-${++serial}`);
  await mkdir(target);
  const full = { mode: "clone", source, carry: "none", ...spec } as const;
  const prepared = await workspaces(limits).prepare({ spec: full, target, owner, box: "team-app" });
  return { target, ...prepared };
}

describe("clone", () => {
  it("is a private repository on its own branch that leads nowhere", async () => {
    await makeRepository();
    plain(["tag", "v1"]);
    plain(["branch", "other"]);
    plain(["update-ref", "refs/heads/-x", "HEAD"]);
    plain(["remote", "add", "origin", "https://person:secret@example.com/repo.git"]);
    const { target, baseCommit, leftBehind } = await prepare();
    expect(baseCommit).toBe(plain(["rev-parse", "HEAD"]).trim());
    expect(leftBehind).toBe(0);
    expect(plain(["symbolic-ref", "HEAD"], target).trim()).toBe("refs/heads/agentbox/team-app");
    expect(plain(["status", "--porcelain"], target)).toBe("");
    expect(plain(["fsck", "--strict"], target)).toBe("");
    expect(plain(["remote"], target)).toBe("");
    expect(plain(["for-each-ref", "--format=%(refname)"], target).trim().split("\n")).toEqual([
      "refs/heads/agentbox/team-app",
      "refs/remotes/origin/-x",
      "refs/remotes/origin/main",
      "refs/remotes/origin/other",
      "refs/tags/v1",
    ]);
    expect(plain(["config", "--local", "user.email"], target).trim()).toBe("person@example.com");
    const leaks = await run(["grep", "-rlaE", `${dir}|secret|example.com/repo`, target]);
    expect(leaks.stdout).toBe("");
    expect(await readFile(join(target, "sub/b.txt"), "utf8")).toBe("two\n");
    expect((await lstat(join(target, ".git/config"))).uid).toBe(owner.uid);
    const links = await run(["find", target, "-type", "f", "-links", "+1"]);
    expect(links.stdout).toBe("");
  });

  it("leaves the source exactly as it was", async () => {
    await makeRepository();
    await writeFile(join(source, "a.txt"), "changed\n");
    await writeFile(join(source, "new"), "new\n");
    const picture = async () =>
      (await run(["find", source, "-printf", "%p %m %s %T@ %U\n"])).stdout.split("\n").sort().join("\n");
    const before = await picture();
    await prepare({ carry: "dirty" });
    await prepare();
    expect(await picture()).toBe(before);
  });

  it("carries uncommitted work when asked, and counts it when not", async () => {
    await makeRepository({
      "a.txt": "one\n",
      "gone.txt": "x\n",
      "staged.txt": "x\n",
      "deep/er/f": "x\n",
      ".gitignore": "*.log\n",
    });
    await writeFile(join(source, "a.txt"), "changed\n");
    await rm(join(source, "gone.txt"));
    await writeFile(join(source, "staged.txt"), "staged\n");
    plain(["add", "staged.txt"]);
    await rm(join(source, "deep"), { recursive: true });
    await writeFile(join(source, "deep"), "a file now\n");
    await writeFile(join(source, "new\nline"), "new\n");
    await symlink("/etc/passwd", join(source, "link"));
    await writeFile(join(source, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    for (const ignored of ["debug.log", "globally-ignored", "locally-ignored"])
      await writeFile(join(source, ignored), "no");
    await writeFile(join(source, ".git/info/exclude"), "locally-ignored\n");
    await mkdir(join(source, "nested"));
    plain(["init", "-q"], join(source, "nested"));
    const index = await readFile(join(source, ".git/index"));
    const none = await prepare();
    expect(none.leftBehind).toBe(9);
    expect(await readFile(join(none.target, "a.txt"), "utf8")).toBe("one\n");
    const { target, leftBehind } = await prepare({ carry: "dirty" });
    expect(leftBehind).toBe(1);
    expect((await readdir(target)).sort()).toEqual(
      [".git", ".gitignore", "a.txt", "deep", "link", "new\nline", "run.sh", "staged.txt"].sort(),
    );
    expect(await readFile(join(target, "a.txt"), "utf8")).toBe("changed\n");
    expect(await readFile(join(target, "deep"), "utf8")).toBe("a file now\n");
    expect(await readlink(join(target, "link"))).toBe("/etc/passwd");
    expect((await stat(join(target, "run.sh"))).mode & 0o111).toBe(0o111);
    expect((await readFile(join(source, ".git/index"))).equals(index)).toBe(true);
  });

  it("carries a change of the same size that was made in the second of the last git add", async () => {
    await makeRepository({ "a.txt": "one\n" });
    const second = async () => Math.floor((await stat(join(source, "a.txt"))).ctimeMs / 1000);
    let staged: number;
    do {
      await writeFile(join(source, "a.txt"), "one\n");
      plain(["add", "a.txt"]);
      staged = await second();
      await writeFile(join(source, "a.txt"), "two\n");
    } while ((await second()) !== staged);
    // A copy of the index that is made in a later second says nothing about when the index was written.
    while (Math.floor(Date.now() / 1000) === staged) await new Promise(setImmediate);
    const { target } = await prepare({ carry: "dirty" });
    expect(await readFile(join(target, "a.txt"), "utf8")).toBe("two\n");
  });

  it("does not follow a tracked link when the work has a directory in its place", async () => {
    await makeRepository();
    const outside = join(dir, "outside");
    await mkdir(outside);
    await symlink(outside, join(source, "spot"));
    plain(["add", "spot"]);
    plain(["commit", "-qm", "a link"]);
    await rm(join(source, "spot"));
    await mkdir(join(source, "spot"));
    await writeFile(join(source, "spot/file"), "inside\n");
    const { target } = await prepare({ carry: "dirty" });
    expect(await readFile(join(target, "spot/file"), "utf8")).toBe("inside\n");
    expect(await readdir(outside)).toEqual([]);
  });

  it("takes subdirectories, worktrees, bare, shallow, detached, empty and sha256 repositories", async () => {
    await makeRepository();
    await writeFile(join(source, "a.txt"), "second\n");
    plain(["commit", "-qam", "second"]);
    const head = plain(["rev-parse", "HEAD"]).trim();
    expect((await prepare({ source: join(source, "sub") })).baseCommit).toBe(head);
    plain(["worktree", "add", "-q", join(dir, "tree"), "HEAD~1"]);
    await writeFile(join(dir, "tree/untracked"), "x");
    const worktree = await prepare({ source: join(dir, "tree") });
    expect(worktree).toMatchObject({ baseCommit: plain(["rev-parse", "HEAD~1"]).trim(), leftBehind: 1 });
    plain(["clone", "-q", "--bare", source, join(dir, "bare.git")]);
    expect((await prepare({ source: join(dir, "bare.git") })).baseCommit).toBe(head);
    plain(["clone", "-q", "--depth=1", `file://${source}`, join(dir, "shallow")]);
    const shallow = await prepare({ source: join(dir, "shallow") });
    expect(plain(["rev-list", "--count", "HEAD"], shallow.target).trim()).toBe("1");
    plain(["checkout", "-q", "--detach", "HEAD~1"]);
    expect((await prepare()).baseCommit).not.toBe(head);
    plain(["update-index", "--split-index"]);
    await writeFile(join(source, "a.txt"), "third\n");
    expect((await prepare()).leftBehind).toBe(1);
    for (const format of ["sha1", "sha256"]) {
      const fresh = join(dir, `fresh-${format}`);
      plain(["init", "-q", `--object-format=${format}`, fresh], dir);
      const empty = await prepare({ source: fresh });
      expect(empty.baseCommit).toBeUndefined();
      await writeFile(join(fresh, "early"), "before the first commit");
      expect(await prepare({ source: fresh })).toMatchObject({ leftBehind: 1 });
      expect(await readdir((await prepare({ source: fresh, carry: "dirty" })).target)).toEqual([
        ".git",
        "early",
      ]);
      expect(plain(["symbolic-ref", "HEAD"], empty.target).trim()).toBe("refs/heads/agentbox/team-app");
      await writeFile(join(fresh, "f"), "x");
      plain(["add", "f"], fresh);
      plain(["commit", "-qm", "x"], fresh);
      expect((await prepare({ source: fresh })).baseCommit).toBe(plain(["rev-parse", "HEAD"], fresh).trim());
    }
  });

  it("refuses what is no repository, partial clones, and pointers to other people's repositories", async () => {
    await mkdir(source);
    expect(await isHostGitRepository(source)).toBe(false);
    await expect(prepare()).rejects.toMatchObject({ code: "workspace.source_invalid" });
    await expect(prepare({ source: join(dir, "absent") })).rejects.toMatchObject({
      code: "workspace.source_invalid",
    });
    await makeRepository();
    const thief = join(dir, "thief");
    await mkdir(thief);
    await writeFile(join(thief, ".git"), `gitdir: ${source}/.git\n`);
    // The control: plain git believes the pointer.
    expect(plain(["log", "--format=%s"], thief).trim()).toBe("first");
    await expect(prepare({ source: thief })).rejects.toMatchObject({ code: "workspace.source_invalid" });
    await rm(join(thief, ".git"));
    await symlink(join(source, ".git"), join(thief, ".git"));
    await expect(prepare({ source: thief })).rejects.toMatchObject({ code: "workspace.source_invalid" });
    plain(["config", "remote.far.promisor", "true"]);
    await expect(prepare()).rejects.toMatchObject({ code: "workspace.source_invalid", message: /partial/ });
  });
});

describe("a hostile repository", () => {
  it("executes nothing on the host", async () => {
    const canaries = join(dir, "canaries");
    await mkdir(canaries);
    const trap = (name: string) => `touch ${canaries}/${name}; cat`;
    await makeRepository({
      "a.txt": "one\n",
      ".gitattributes": "*.txt filter=evil\n*.md filter=e=vil.x\n",
      "b.md": "x\n",
    });
    const script = join(dir, "trap.sh");
    await writeFile(script, `#!/bin/sh\ntouch ${canaries}/fsmonitor\n`, { mode: 0o755 });
    plain(["config", "core.fsmonitor", script]);
    for (const [filter, name] of [
      ["evil", "plain"],
      ["e=vil.x", "equals"],
    ] as const) {
      await run([
        "git",
        "config",
        "-f",
        join(source, ".git/config"),
        `filter.${filter}.clean`,
        trap(`clean-${name}`),
      ]);
      await run([
        "git",
        "config",
        "-f",
        join(source, ".git/config"),
        `filter.${filter}.smudge`,
        trap(`smudge-${name}`),
      ]);
    }
    plain(["config", "core.sshCommand", trap("ssh")]);
    plain(["config", "uploadpack.packObjectsHook", trap("pack-hook")]);
    plain(["config", "core.alternateRefsCommand", trap("alternate-refs")]);
    plain(["config", "core.worktree", "/etc"]);
    for (const hook of ["post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"]) {
      await writeFile(join(source, ".git/hooks", hook), `#!/bin/sh\ntouch ${canaries}/${hook}\n`, {
        mode: 0o755,
      });
      await chmod(join(source, ".git/hooks", hook), 0o755);
    }
    await writeFile(join(source, "a.txt"), "dirty\n");
    await writeFile(join(source, "b.md"), "dirty\n");
    const { target, leftBehind } = await prepare({ carry: "dirty" });
    await prepare({ carry: "none" });
    expect(leftBehind).toBe(0);
    expect(await readdir(canaries)).toEqual([]);
    expect(await readFile(join(target, "a.txt"), "utf8")).toBe("dirty\n");
    // The control: the same traps go off with plain git.
    plain(["config", "--unset", "core.worktree"]);
    plain(["add", "-A"]);
    plain(["checkout", "-q", "-f", "HEAD"]);
    expect(await readdir(canaries)).toEqual(
      expect.arrayContaining(["clean-plain", "clean-equals", "smudge-plain", "fsmonitor", "post-checkout"]),
    );
  });

  it("cannot smuggle lines into the config of the clone", async () => {
    await makeRepository();
    const name = 'x"\n[core]\n\tfsmonitor = "evil';
    await run(["git", "config", "-f", join(source, ".git/config"), "user.name", name]);
    const { target } = await prepare();
    expect(plain(["config", "--local", "--list"], target)).not.toContain("fsmonitor=");
    expect(plain(["config", "--local", "user.name"], target).trim()).toContain('x" [core]');
  });
});

describe("copy, mount and empty", () => {
  it("copies a directory as it is, without what is no file and without following links", async () => {
    await mkdir(join(source, "sub"), { recursive: true });
    await writeFile(join(source, "sub/tool"), "x", { mode: 0o755 });
    await chmod(join(source, "sub/tool"), 0o4755);
    await symlink("/etc", join(source, "etc"));
    await symlink("absent", join(source, "dangling"));
    await run(["mkfifo", join(source, "fifo")]);
    await chmod(join(source, "sub"), 0o750);
    const { target } = await prepare({ mode: "copy" });
    expect((await readdir(target)).sort()).toEqual(["dangling", "etc", "sub"]);
    expect(await readlink(join(target, "etc"))).toBe("/etc");
    expect((await stat(join(target, "sub"))).mode & 0o7777).toBe(0o750);
    expect((await stat(join(target, "sub/tool"))).mode & 0o7777).toBe(0o755);
    expect((await stat(join(target, "sub/tool"))).uid).toBe(owner.uid);
    expect((await lstat("/etc")).uid).toBe(0);
  });

  it("follows no link that was put in the place of the directory", async () => {
    await mkdir(source);
    await writeFile(join(source, "mine"), "mine");
    expect(await readdir((await prepare({ mode: "copy" })).target)).toEqual(["mine"]);
    const link = join(dir, "link");
    await symlink(source, link);
    for (const mode of ["copy", "clone", "mount"] as const)
      await expect(prepare({ mode, source: link })).rejects.toMatchObject({
        code: "workspace.source_invalid",
        message: expect.stringContaining("now leads to") as string,
      });
  });

  it("has a ceiling for files and for bytes", async () => {
    await mkdir(source);
    for (let i = 0; i < 20; i++) await writeFile(join(source, `f${i}`), "x".repeat(100));
    await prepare({ mode: "copy" }, { maxFiles: 20, maxBytes: 2000 });
    for (const limits of [
      { maxFiles: 19, maxBytes: 2000 },
      { maxFiles: 20, maxBytes: 1999 },
    ]) {
      await expect(prepare({ mode: "copy" }, limits)).rejects.toMatchObject({
        code: "workspace.source_invalid",
      });
    }
  });

  it("refuses to hand over the whole home, the whole system, or AgentBox itself", async () => {
    await mkdir(join(dir, "agentbox/boxes"), { recursive: true });
    await mkdir(join(dir, "user/project"));
    for (const mode of ["copy", "mount"] as const) {
      for (const bad of ["/", join(dir, "user"), dir, join(dir, "agentbox"), join(dir, "agentbox/boxes")]) {
        await expect(prepare({ mode, source: bad })).rejects.toMatchObject({
          code: "workspace.source_invalid",
        });
      }
      await writeFile(join(dir, "file"), "");
      await expect(prepare({ mode, source: join(dir, "file") })).rejects.toMatchObject({
        code: "workspace.source_invalid",
      });
      await prepare({ mode, source: join(dir, "user/project") });
    }
  });

  it("prepares nothing for empty and mount but a repository's own .git, and chooses clone for repositories", async () => {
    await makeRepository();
    const withoutGit = join(dir, "without-git");
    await mkdir(withoutGit);
    expect(await readdir((await prepare({ mode: "mount", source: withoutGit })).target)).toEqual([]);
    const { target } = await prepare({ mode: "mount" });
    expect(await readdir(target)).toEqual([".git"]);
    expect((await prepare({ mode: "empty" })).leftBehind).toBe(0);
    expect(await workspaces().defaultMode(source)).toBe("clone");
    expect(await workspaces().defaultMode(join(dir, "user"))).toBe("copy");
  });
});
