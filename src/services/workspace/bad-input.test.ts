/** Sources that are strange, broken or made to do harm: a coded error or a safe result. */
import { createHash } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../../host/run.ts";
import { type Ground, makeGround } from "./workspace.fixture.ts";

let ground: Ground;
beforeEach(async () => {
  ground = await makeGround();
});
afterEach(() => ground.remove());

/** Makes a commit of what no working tree could hold, and checks it out as HEAD without files. */
function commitTree(entries: readonly { mode: string; path: Buffer | string; content?: string }[]): void {
  const { plain } = ground;
  const line = ({ mode, path, content }: (typeof entries)[number]) => {
    const blob = plain(["hash-object", "-w", "--stdin"], { input: content ?? "x\n" }).trim();
    return Buffer.concat([Buffer.from(`${mode} blob ${blob}\t`), Buffer.from(path), Buffer.from([0])]);
  };
  const tree = plain(["mktree", "-z"], { input: Buffer.concat(entries.map(line)) }).trim();
  plain(["update-ref", "HEAD", plain(["commit-tree", "-m", "made", tree]).trim()]);
}

describe("names", () => {
  it("takes newlines, quotes, bytes that are no UTF-8, and names that differ in case only", async () => {
    const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
    commitTree(
      ["new\nline", "quote\"'`$(id)", "-rf", "README", "readme", "\u202eevil", " space "].map((path) => ({
        mode: "100644",
        path,
      })),
    );
    const { plain, source, prepare } = ground;
    plain(["reset", "-q", "--hard"]);
    const first = await prepare();
    expect(first.leftBehind).toBe(0);
    expect(plain(["status", "--porcelain"], { cwd: first.target })).toBe("");
    expect((await readdir(first.target)).sort()).toEqual([...(await readdir(source))].sort());
    // Tracked, such a name comes along; as uncommitted work it cannot, and is counted.
    await writeFile(Buffer.concat([Buffer.from(`${source}/`), latin]), "x");
    await writeFile(join(source, "new\nline"), "changed\n");
    const carried = await prepare({ carry: "dirty" });
    expect(carried.leftBehind).toBe(1);
    expect(await readFile(join(carried.target, "new\nline"), "utf8")).toBe("changed\n");
    ground.commitAll("with bytes");
    const { target } = await prepare();
    const names = await readdir(target, { encoding: "buffer" });
    expect(names.some((name) => Buffer.from(name).equals(latin))).toBe(true);
  });

  for (const trick of [".GIT/config", ".git/config", "git~1", ".g\u200cit", ".git ", ".git.", "..", "."]) {
    it(`refuses a tree with ${JSON.stringify(trick)}`, async () => {
      const { plain, prepare, dir } = ground;
      const blob = plain(["hash-object", "-w", "--stdin"], { input: "[core]\n\tfsmonitor = evil\n" }).trim();
      const [name, inner] = trick.split("/");
      const entry =
        inner === undefined
          ? `100644 blob ${blob}\t${name}\0`
          : `040000 tree ${plain(["mktree"], { input: `100644 blob ${blob}\t${inner}\n` }).trim()}\t${name}\0`;
      const tree = plain(["mktree", "-z"], { input: entry }).trim();
      plain(["update-ref", "HEAD", plain(["commit-tree", "-m", "trick", tree]).trim()]);
      await expect(prepare()).rejects.toMatchObject({ code: "workspace.failed" });
      expect((await run(["grep", "-rlF", "fsmonitor = evil", dir, "--include=config"])).stdout).toBe("");
    });
  }

  it("takes a nesting of 1,000, and refuses one that no path can name", async () => {
    const { source, prepare, plain } = ground;
    const deep = Array.from({ length: 1000 }, () => "d").join("/");
    await mkdir(join(source, deep), { recursive: true });
    await writeFile(join(source, deep, "f"), "deep\n");
    const untracked = await prepare({ carry: "dirty" });
    expect(await readFile(join(untracked.target, deep, "f"), "utf8")).toBe("deep\n");
    ground.commitAll("deep");
    const { target } = await prepare();
    expect(await readFile(join(target, deep, "f"), "utf8")).toBe("deep\n");
    const copied = await prepare({ mode: "copy" });
    expect(await readFile(join(copied.target, deep, "f"), "utf8")).toBe("deep\n");
    let tree = plain(["rev-parse", "HEAD^{tree}"]).trim();
    for (let level = 0; level < 25; level++)
      tree = plain(["mktree"], { input: `040000 tree ${tree}\t${"n".repeat(200)}\n` }).trim();
    plain(["update-ref", "HEAD", plain(["commit-tree", "-m", "deeper", tree]).trim()]);
    await expect(prepare()).rejects.toMatchObject({ code: "workspace.failed" });
  }, 30_000);
});

describe("uncommitted work", () => {
  it("comes along as it is, and nothing of the source changes", async () => {
    const { source, plain, put, commitAll, prepare } = ground;
    for (const name of ["staged", "unstaged", "both", "deleted", "removed", "renamed", "mode", "type"])
      await put(name, `${name} ${"text ".repeat(20)}\n`);
    commitAll("first");
    await put("staged", "staged\n");
    await put("both", "in the index\n");
    await put("added", "added\n");
    plain(["add", "staged", "both", "added"]);
    await put("both", "in the tree\n");
    await put("unstaged", "unstaged\n");
    await rm(join(source, "deleted"));
    plain(["rm", "-q", "removed"]);
    plain(["mv", "renamed", "new-name"]);
    await chmod(join(source, "mode"), 0o755);
    await rm(join(source, "type"));
    await symlink("/etc/shadow", join(source, "type"));
    await put("new directory/untracked", "untracked\n");
    const picture = async () => {
      const times = (await run(["find", source, "-printf", "%p %m %s %T@ %C@ %U %i\n"])).stdout;
      const bytes = (await run(["sh", "-c", 'find "$1" -type f -exec sha256sum {} +', "x", source])).stdout;
      return createHash("sha256")
        .update(times.split("\n").sort().join("\n"))
        .update(bytes.split("\n").sort().join("\n"))
        .digest("hex");
    };
    const before = await picture();
    const { target, leftBehind } = await prepare({ carry: "dirty" });
    expect(leftBehind).toBe(0);
    expect(await picture()).toBe(before);
    // The control: the picture sees what git itself does to an index.
    plain(["update-index", "--force-write-index"]);
    expect(await picture()).not.toBe(before);
    for (const name of ["staged", "both", "added", "unstaged", "new-name", "new directory/untracked"])
      expect(await readFile(join(target, name), "utf8")).toBe(await readFile(join(source, name), "utf8"));
    for (const gone of ["deleted", "removed", "renamed"])
      await expect(lstat(join(target, gone))).rejects.toMatchObject({ code: "ENOENT" });
    expect((await lstat(join(target, "mode"))).mode & 0o111).toBe(0o111);
    expect(await readlink(join(target, "type"))).toBe("/etc/shadow");
    const status = (cwd: string) => plain(["diff", "--cached", "--raw", "HEAD"], { cwd });
    for (const cwd of [source, target]) plain(["add", "-A"], { cwd });
    expect(status(target)).toBe(status(source));
  });

  it("of more than 2 GB is refused at once; left behind, it is only counted", async () => {
    const { source, put, commitAll, prepare } = ground;
    await put("a", "a\n");
    commitAll("first");
    const file = await open(join(source, "huge"), "w");
    await file.truncate(2 ** 31 + 1);
    await file.close();
    await expect(prepare({ carry: "dirty" })).rejects.toMatchObject({ code: "workspace.source_invalid" });
    expect((await prepare()).leftBehind).toBe(1);
    await expect(prepare({ mode: "copy" })).rejects.toMatchObject({ code: "workspace.source_invalid" });
  }, 10_000);
});

describe("a .git that is not what it should be", () => {
  beforeEach(async () => {
    await ground.put("a", "a\n");
    ground.commitAll("first");
  });

  it("is refused as a link, a pipe, or a file that leads elsewhere", async () => {
    const { source, dir, prepare } = ground;
    expect((await prepare()).baseCommit).toBeDefined();
    await rename(join(source, ".git"), join(dir, "elsewhere"));
    const refused = () =>
      expect(prepare()).rejects.toMatchObject({ code: expect.stringMatching(/^workspace\./) });
    await symlink(join(dir, "elsewhere"), join(source, ".git"));
    await refused();
    await rm(join(source, ".git"));
    for (const text of [`gitdir: ${dir}/elsewhere\n`, "gitdir: \n", "", "gitdir: /\n", "nonsense\0\n"]) {
      await writeFile(join(source, ".git"), text);
      await refused();
    }
    await rm(join(source, ".git"));
    await run(["mkfifo", join(source, ".git")]);
    await refused();
  });

  it("is refused with objects, refs or HEAD that lead elsewhere", async () => {
    const { source, dir, prepare } = ground;
    for (const part of ["objects", "refs"]) {
      await rename(join(source, ".git", part), join(dir, part));
      await symlink(join(dir, part), join(source, ".git", part));
      await expect(prepare()).rejects.toMatchObject({ code: "workspace.source_invalid" });
      await rm(join(source, ".git", part));
      await rename(join(dir, part), join(source, ".git", part));
    }
    await writeFile(join(source, ".git/HEAD"), "ref: ../../../../etc/passwd\n");
    await expect(prepare()).rejects.toMatchObject({ code: expect.stringMatching(/^workspace\./) });
    await writeFile(join(source, ".git/HEAD"), `${"1".repeat(40)}\n`);
    await expect(prepare()).rejects.toMatchObject({ code: "workspace.failed" });
  });

  const downloads: Readonly<Record<string, (dotGit: string, own: string) => Promise<void>>> = {
    "takes the rest from another repository": async (dotGit, own) => {
      await writeFile(join(dotGit, "../.git"), "gitdir: store\n");
      await writeFile(join(dotGit, "gitdir"), "../.git\n");
      await writeFile(join(dotGit, "commondir"), `${own}\n`);
    },
    "is a pointer to a directory of links": async (dotGit, own) => {
      await writeFile(join(dotGit, "../.git"), "gitdir: store\n");
      await writeFile(join(dotGit, "config"), "[core]\n\tworktree = ..\n");
      for (const part of ["objects", "refs"]) await symlink(join(own, part), join(dotGit, part));
    },
    "has a list of branches elsewhere": async (dotGit, own) => {
      ground.plain(["pack-refs", "--all"]);
      await makeParts(dotGit, own);
      await symlink(join(own, "packed-refs"), join(dotGit, "packed-refs"));
    },
    "has a branch elsewhere": async (dotGit, own) => {
      await makeParts(dotGit, own);
      await symlink(join(own, "refs/heads/main"), join(dotGit, "refs/heads/main"));
    },
    "has branches elsewhere": async (dotGit, own) => {
      await makeParts(dotGit, own);
      await rm(join(dotGit, "refs/heads"), { recursive: true });
      await symlink(join(own, "refs/heads"), join(dotGit, "refs/heads"));
    },
  };
  const makeParts = async (dotGit: string, own: string) => {
    await mkdir(join(dotGit, "refs/heads"), { recursive: true });
    await mkdir(join(dotGit, "objects/info"), { recursive: true });
    await writeFile(join(dotGit, "objects/info/alternates"), `${own}/objects\n`);
  };

  it.each(Object.keys(downloads))("is refused where it %s", async (kind) => {
    const { source, dir, plain, prepare } = ground;
    const download = join(dir, "download");
    // A directory from the internet, which can name the person's other repository.
    const dotGit = join(download, kind.includes("elsewhere") ? ".git" : "store");
    await mkdir(dotGit, { recursive: true });
    await writeFile(join(dotGit, "HEAD"), "ref: refs/heads/main\n");
    await writeFile(join(dotGit, "config"), "[core]\n\trepositoryformatversion = 0\n");
    await downloads[kind]!(dotGit, join(source, ".git"));
    // The control: plain git shows the other repository's history.
    expect(plain(["log", "--format=%s"], { cwd: download }).trim()).toBe("first");
    await expect(prepare({ source: download })).rejects.toMatchObject({ code: "workspace.source_invalid" });
  });

  it("is refused when a pack is damaged where the files are", async () => {
    const { source, plain, prepare } = ground;
    plain(["gc", "-q"]);
    expect((await prepare()).baseCommit).toBeDefined();
    const directory = join(source, ".git/objects/pack");
    const pack = join(directory, (await readdir(directory)).find((name) => name.endsWith(".pack"))!);
    await chmod(pack, 0o644);
    const bytes = await readFile(pack);
    await writeFile(
      pack,
      bytes.map((byte, at) => (at > 20 && at < bytes.length - 20 ? byte ^ 0x55 : byte)),
    );
    await expect(prepare()).rejects.toMatchObject({ code: "workspace.failed" });
  });
});
