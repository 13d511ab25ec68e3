import { chmod, lstat, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MergeMode } from "../../contract/review/merge.ts";
import { MergeFixture } from "./merge.fixture.ts";

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join("");

let f: MergeFixture;
beforeEach(async () => {
  f = await MergeFixture.create({ "a.txt": lines(1, 20), "sub/b.txt": "two\n", "c.txt": "three\n" });
});
afterEach(() => f.remove());

const log = (format: string, count = 1) => f.git(["log", `-${count}`, `--format=${format}`]).trimEnd();
const read = (path: string) => readFile(join(f.project, path), "utf8");

/** Two commits of the agent's, and something it has not committed. */
async function threePieces(box: string): Promise<void> {
  await f.write({ "a.txt": `first\n${lines(1, 20)}` }, box);
  f.commit("One", box, { GIT_AUTHOR_DATE: "2001-02-03T04:05:06+0700" });
  await f.write({ "new/d.txt": "four\n" }, box);
  f.commit("Two\n\nWith a body.\n\nSigned-off-by: X <x@y.z>", box);
  await f.write({ "uncommitted.txt": "five\n" }, box);
}

describe("the modes", () => {
  it("squash makes one commit by the agent, committed by the person, with trailers", async () => {
    const request = await f.work(threePieces);
    const before = f.head();
    const record = await f.merged(request);
    expect(record).toMatchObject({
      branch: "refs/heads/main",
      before,
      after: f.head(),
      files: 3,
      mode: "squash",
    });
    expect(log("%P")).toBe(before);
    expect(log("%an <%ae>|%cn <%ce>")).toBe("Claude <claude@example.com>|A Person <person@example.com>");
    expect(log("%B")).toBe(
      "Do the work\n\nIn two paragraphs.\n\nAgentBox-Box: team-app\nAgentBox-Agent: claude 2.1.197",
    );
    expect(f.git(["status", "--porcelain"])).toBe("");
    expect(f.git(["fsck", "--strict", "--no-dangling"])).toBe("");
    expect(await read("uncommitted.txt")).toBe("five\n");
    expect(f.git(["reflog", "-1", "--format=%gs"])).toBe("agentbox: merge (squash)\n");
  });

  it("commits keeps authors, dates and messages, and adds one for what was not committed", async () => {
    const request = await f.work(threePieces, "commits");
    await f.write({ "c.txt": "the person went on\n" });
    const before = f.commit("meanwhile");
    await f.merged(request);
    expect(log("%s|%an|%cn", 4).split("\n")).toEqual([
      "Do the work|Claude|A Person",
      "Two|An Agent|A Person",
      "One|An Agent|A Person",
      "meanwhile|A Person|A Person",
    ]);
    expect(f.git(["log", "-1", "--format=%ai", "HEAD~2"]).trim()).toBe("2001-02-03 04:05:06 +0700");
    // One block of trailers, in which git finds all of them.
    expect(
      f.git(["log", "-1", "--format=%(trailers:key=AgentBox-Box,key=Signed-off-by)", "HEAD~1"]).trim(),
    ).toBe("Signed-off-by: X <x@y.z>\nAgentBox-Box: team-app");
    expect(f.git(["rev-parse", "HEAD~3"]).trim()).toBe(before);
    expect(f.git(["status", "--porcelain"])).toBe("");
    expect(await read("c.txt")).toBe("the person went on\n");
  });

  it("commits lands a merge of the agent's as one commit, and all modes end with the same files", async () => {
    const edit = async (box: string) => {
      f.git(["checkout", "-q", "-b", "side"], box);
      await f.write({ "side.txt": "side\n" }, box);
      f.commit("Side", box);
      f.git(["checkout", "-q", "main"], box);
      await f.write({ "main.txt": "main\n" }, box);
      f.commit("Main", box);
      f.git(["merge", "-q", "--no-edit", "side"], box);
    };
    const request = await f.work(edit, "commits");
    const squash = await f.merges.plan({ ...request, mode: "squash" });
    await f.merged(request);
    expect(log("%s", 2).split("\n")).toEqual(["Merge branch 'side'", "Main"]);
    expect(squash).toMatchObject({ outcome: "merged", record: { files: 2 } });
    expect(await read("side.txt")).toBe("side\n");
  });

  it("patch changes files and index and makes no commit", async () => {
    const request = await f.work(threePieces, "patch");
    const before = f.head();
    const record = await f.merged(request);
    expect(record.branch).toBeUndefined();
    expect(f.head()).toBe(before);
    expect(f.git(["status", "--porcelain"]).split("\n").filter(Boolean)).toEqual([
      "M  a.txt",
      "A  new/d.txt",
      "A  uncommitted.txt",
    ]);
  });

  it("patch works without a branch, and the others ask for one", async () => {
    const request = await f.work(threePieces);
    f.git(["checkout", "-q", "--detach"]);
    await expect(f.merges.apply(request)).rejects.toMatchObject({
      code: "merge.failed",
      hint: expect.stringContaining("git switch"),
    });
    await f.merged({ ...request, mode: "patch" });
    expect(await read("new/d.txt")).toBe("four\n");
  });

  it("says that there is nothing", async () => {
    expect(await f.merges.apply(await f.work(() => undefined))).toEqual({ outcome: "nothing" });
    const request = await f.work(threePieces);
    await f.merged(request);
    expect(await f.merges.apply(request)).toEqual({ outcome: "nothing" });
  });

  it("plan changes nothing, not even the objects", async () => {
    const request = await f.work(threePieces);
    const [before, count] = [await f.state(), f.git(["count-objects", "-v"])];
    expect(await f.merges.plan(request)).toMatchObject({ outcome: "merged", record: { files: 3 } });
    expect(await f.state()).toEqual(before);
    expect(f.git(["count-objects", "-v"])).toBe(count);
    await f.merged(request);
    expect(await f.state()).not.toEqual(before);
  });
});

describe("the history", () => {
  it.each<MergeMode>(["squash", "commits"])("the person went on: %s lands on top", async (mode) => {
    const request = await f.work(threePieces, mode);
    await f.write({ "a.txt": `${lines(1, 20)}last\n` });
    f.commit("meanwhile");
    await f.merged(request);
    expect(await read("a.txt")).toBe(`first\n${lines(1, 20)}last\n`);
  });

  it.each<MergeMode>(["squash", "commits", "patch"])(
    "the base is no longer in the history: %s",
    async (mode) => {
      await f.write({ "sub/b.txt": "of the base\n" });
      f.commit("base");
      const request = await f.work(threePieces, mode);
      f.git(["reset", "-q", "--hard", "HEAD~1"]);
      await f.write({ "c.txt": "rewritten\n" });
      f.commit("rewritten");
      await f.merged(request);
      // Files of the base that the person has removed do not come back with the work.
      expect([await read("sub/b.txt"), await read("c.txt"), await read("new/d.txt")]).toEqual([
        "two\n",
        "rewritten\n",
        "four\n",
      ]);
    },
  );

  it("a base that the person's repository has never seen", async () => {
    const other = await MergeFixture.create({ "a.txt": lines(1, 20) });
    try {
      const request = await f.work(threePieces, "commits", { project: other.project });
      await f.merged(request);
      expect(await read("a.txt")).toBe(`first\n${lines(1, 20)}`);
      expect(f.git(["rev-list", "--count", "HEAD"]).trim()).toBe("4");
      expect(f.git(["fsck", "--strict", "--no-dangling"])).toBe("");
    } finally {
      await other.remove();
    }
  });

  it.each<MergeMode>(["squash", "commits", "patch"])(
    "a repository without a commit: %s and undo",
    async (mode) => {
      const empty = await MergeFixture.create();
      try {
        await empty.write({ "mine.txt": "untracked\n" });
        const before = await empty.state();
        const request = await empty.work((box) => empty.write({ "x.txt": "x\n" }, box), mode);
        const record = await empty.merged(request);
        expect(await readFile(join(empty.project, "x.txt"), "utf8")).toBe("x\n");
        await empty.merges.undo(record);
        expect(await empty.state()).toEqual(before);
      } finally {
        await empty.remove();
      }
    },
  );

  it("a shallow repository", async () => {
    f.commit("second");
    const shallow = join(f.dir, "shallow");
    f.git(["clone", "-q", "--depth=1", `file://${f.project}`, shallow], f.dir);
    const request = await f.work(threePieces);
    await f.merged({ ...request, projectDir: shallow });
    expect(f.git(["status", "--porcelain"], shallow)).toBe("");
    expect(f.git(["fsck", "--no-dangling"], shallow)).toBe("");
  });

  it("a bare repository gets the commit only", async () => {
    const bare = join(f.dir, "bare.git");
    f.git(["clone", "-q", "--bare", f.project, bare], f.dir);
    const request = { ...(await f.work(threePieces)), projectDir: bare };
    const before = f.head(bare);
    const record = await f.merged(request);
    expect(f.git(["show", "HEAD:new/d.txt"], bare)).toBe("four\n");
    await f.merges.undo(record);
    expect(f.head(bare)).toBe(before);
    await expect(f.merges.apply({ ...request, mode: "patch" })).rejects.toMatchObject({
      code: "merge.failed",
    });
  });

  it("a linked worktree, with the main one left alone", async () => {
    const linked = join(f.dir, "linked");
    f.git(["worktree", "add", "-q", "-b", "topic", linked]);
    const main = { head: f.head(), files: await f.files(f.project) };
    const before = await f.state(linked);
    const record = await f.merged({ ...(await f.work(threePieces)), projectDir: join(linked, "sub") });
    expect(record.branch).toBe("refs/heads/topic");
    expect(f.git(["status", "--porcelain"], linked)).toBe("");
    expect({ head: f.head(), files: await f.files(f.project) }).toEqual(main);
    await f.merges.undo(record);
    expect(await f.state(linked)).toEqual(before);
  });
});

describe("what files can be", () => {
  it("renames, mode bits, links, binary, odd names, deletions: landed and taken back", async () => {
    const odd = Buffer.concat([Buffer.from(`${f.project}/`), Buffer.from([0x6f, 0xff, 0x64])]);
    await writeFile(odd, "not utf-8\n");
    f.commit("odd");
    const before = await f.state();
    const request = await f.work(async (box) => {
      await rename(join(box, "a.txt"), join(box, "renamed.txt"));
      await chmod(join(box, "c.txt"), 0o755);
      await symlink("/etc/passwd", join(box, "link"));
      await rm(join(box, "sub"), { recursive: true });
      await writeFile(join(box, "sub"), "a file now\n");
      await f.write({ "line\nbreak \"quoted'.txt": "x\n", "bin.dat": Buffer.from([0, 1, 2, 255]) }, box);
      await writeFile(Buffer.concat([Buffer.from(`${box}/`), Buffer.from([0x6f, 0xff, 0x64])]), "changed\n");
      await writeFile(Buffer.concat([Buffer.from(`${box}/`), Buffer.from([0xfe])]), "new\n");
    });
    await f.write({ "a.txt": `${lines(1, 20)}the person's\n` });
    f.commit("goes along with the rename");
    const middle = await f.state();
    const record = await f.merged(request);
    const files = await f.files(f.project);
    expect(files).toMatchObject({
      "renamed.txt": `100644 ${lines(1, 20)}the person's\n`,
      "c.txt": "100755 three\n",
      link: "link /etc/passwd",
      sub: "100644 a file now\n",
      "bin.dat": "100644 \0\u0001\u0002\u00ff",
      "line\nbreak \"quoted'.txt": "100644 x\n",
      "o\u00ffd": "100644 changed\n",
      "\u00fe": "100644 new\n",
    });
    expect(files).not.toHaveProperty("a.txt");
    expect(f.git(["status", "--porcelain"])).toBe("");
    await f.merges.undo(record);
    expect(await f.state()).toEqual(middle);
    expect(before).not.toEqual(middle);
  });

  it("a submodule's commit moves without anybody looking into it", async () => {
    const inner = await MergeFixture.create({ "i.txt": "i\n" });
    try {
      f.git(["submodule", "add", "-q", inner.project, "inner"]);
      f.commit("with a submodule");
      const before = await f.state();
      const request = await f.work((box) => {
        f.git(["update-index", "--cacheinfo", `160000,${"1".repeat(40)},inner`], box);
        f.git(["commit", "-q", "-m", "moved"], box);
        f.git(["update-index", "--assume-unchanged", "inner"], box);
      }, "commits");
      // The snapshot of an empty directory would take the submodule away.
      const record = await f.merged({ ...request, commit: request.head });
      expect(f.git(["ls-tree", "HEAD", "inner"])).toContain(`160000 commit ${"1".repeat(40)}`);
      expect(await readFile(join(f.project, "inner/i.txt"), "utf8")).toBe("i\n");
      await f.merges.undo(record);
      expect(await f.state()).toEqual(before);
    } finally {
      await inner.remove();
    }
  });

  it("a file where a directory was, and the other way round", async () => {
    await symlink("sub", join(f.project, "way"));
    f.commit("a link");
    const before = await f.state();
    const request = await f.work(async (box) => {
      await rm(join(box, "way"));
      await f.write({ "way/in.txt": "inside\n" }, box);
    });
    const record = await f.merged(request);
    // Not through the link: what it pointed to is as it was.
    expect(await f.files(f.project)).toMatchObject({ "way/in.txt": "100644 inside\n" });
    expect((await lstat(join(f.project, "way"))).isDirectory()).toBe(true);
    await f.merges.undo(record);
    expect(await f.state()).toEqual(before);
  });

  it("a repository of sha256 objects", async () => {
    await rm(f.project, { recursive: true });
    await rm(f.review, { recursive: true });
    await mkdir(f.project);
    f.git(["init", "-q", "-b", "main", "--object-format=sha256"]);
    f.git(["init", "-q", "--bare", "--object-format=sha256", f.review]);
    await f.write({ "a.txt": lines(1, 20) });
    f.commit("first");
    const before = await f.state();
    const record = await f.merged(await f.work(threePieces, "commits"));
    expect(record.after).toHaveLength(64);
    await f.merges.undo(record);
    expect(await f.state()).toEqual(before);
  });

  it("work of many objects stays one pack", async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`many/${i}.txt`, `${i}\n`]));
    await f.merged(await f.work((box) => f.write(many, box)));
    expect(f.git(["count-objects", "-v"])).toContain("packs: 1\n");
    expect(f.git(["fsck", "--no-dangling"])).toBe("");
  });
});

describe("settings of the person", () => {
  it("a sparse selection and an index in parts stay", async () => {
    await f.write({ "out/x.txt": "x\n", "in/y.txt": "y\n" });
    f.commit("two directories");
    f.git(["sparse-checkout", "set", "--no-cone", "/in/"]);
    f.git(["update-index", "--split-index"]);
    const before = await f.state();
    const request = await f.work((box) =>
      f.write({ "out/x.txt": "changed\n", "in/y.txt": "changed\n" }, box),
    );
    const record = await f.merged(request);
    expect(Object.keys(await f.files(f.project))).toEqual(["in/y.txt"]);
    expect(f.git(["status", "--porcelain"])).toBe("");
    await f.merges.undo(record);
    expect(await f.state()).toEqual(before);
  });

  it("line ends are what they want them to be, also by their global config", async () => {
    await writeFile(
      join(f.dir, "user/.gitconfig"),
      "[user]\n\tname = P\n\temail = p@q.r\n[core]\n\tautocrlf = true\n",
    );
    await f.merged(await f.work((box) => f.write({ "new.txt": "a\nb\n" }, box)));
    expect(await read("new.txt")).toBe("a\r\nb\r\n");
    expect(f.git(["cat-file", "blob", "HEAD:new.txt"])).toBe("a\nb\n");
    expect(f.git(["status", "--porcelain"])).toBe("");
  });
});

describe("depth", () => {
  const withPath = async (path: string) => {
    const request = await f.work((box) => {
      const id = f.git(["rev-parse", "HEAD:c.txt"], box).trim();
      f.git(["update-index", "--add", "--cacheinfo", `100644,${id},${path}`], box);
      f.git(["commit", "-q", "-m", "deep"], box);
    });
    return { ...request, commit: request.head };
  };

  it("a thousand levels land, and a path no disk can hold is refused with nothing changed", async () => {
    const record = await f.merged(await withPath(`${"d/".repeat(1_000)}f`));
    expect(f.git(["status", "--porcelain"])).toBe("");
    await f.merges.undo(record);
    const before = await f.state();
    await expect(
      f.merges.apply(await withPath(`${"d".repeat(200)}/`.repeat(30) + "f")),
    ).rejects.toMatchObject({
      code: "merge.failed",
    });
    expect(await f.state()).toEqual(before);
  });
});
