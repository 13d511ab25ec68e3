import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Change } from "../../contract/review/change.ts";
import type { ReviewRepository } from "../../ports/review.ts";
import { openReviews } from "./index.ts";
import { Scene } from "./review.fixture.ts";

let scene: Scene;
let project: string;
let box: string;
let review: ReviewRepository;
const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i}\n`).join("");

const begin = async (files: Parameters<Scene["project"]>[0]): Promise<void> => {
  project = scene.project(files);
  box = scene.clone(project);
  review = await openReviews().create({
    dir: scene.fresh("review"),
    borrow: project,
    baseCommit: scene.head(project),
  });
};
const take = async (number = 1): Promise<string> =>
  (await review.take(scene.snapshot(box, await review.have()), number)).commit;

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene[Symbol.dispose]());

describe("making one", () => {
  it("borrows the project's objects, private to the owner, with nothing of the project's config", async () => {
    await begin({ "a.txt": lines(1_000) });
    expect(statSync(review.gitDir).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(review.gitDir, "objects/pack"))).toEqual([]);
    expect(existsSync(join(review.gitDir, "hooks"))).toBe(false);
    expect(Buffer.from((await review.fileAt(review.base, "a.txt", 5))!).toString()).toBe("line ");
    const paths: string[] = [];
    for await (const path of review.paths(review.base)) paths.push(path);
    expect(paths).toEqual(["a.txt"]);
    const again = await openReviews().open(review.gitDir);
    expect(again?.base).toBe(review.base);
    expect(await openReviews().open(scene.fresh("none"))).toBeUndefined();
  });

  it("follows a project that borrows itself, and finds the repository of a worktree", async () => {
    const lender = scene.project({ "a.txt": "lent\n" });
    const borrower = scene.fresh("borrower");
    scene.git(scene.dir, ["clone", "-q", "--shared", lender, borrower]);
    const worktree = scene.fresh("worktree");
    scene.git(borrower, ["worktree", "add", "-q", worktree]);
    for (const borrow of [borrower, worktree]) {
      const made = await openReviews().create({
        dir: scene.fresh("r"),
        borrow,
        baseCommit: scene.head(lender),
      });
      expect(Buffer.from((await made.fileAt(made.base, "a.txt", 100))!).toString()).toBe("lent\n");
    }
  });

  it("works in directories with unusual names", async () => {
    await begin({ "a.txt": "one\n" });
    const odd = join(scene.dir, 'odd "name"\nwith: é');
    renameSync(project, odd);
    const made = await openReviews().create({
      dir: join(scene.dir, 'r"\n:x'),
      borrow: odd,
      baseCommit: review.base,
    });
    scene.write(box, { "b.txt": "new\n" });
    const { commit } = await made.take(scene.snapshot(box, await made.have()), 1);
    expect(await made.totals(made.base, commit)).toEqual({ files: 1, added: 1, deleted: 0 });
  });

  it("fails as a whole when the commit is not there, or the project has gone", async () => {
    await begin({ "a.txt": "one\n" });
    const dir = scene.fresh("r");
    for (const request of [
      { borrow: project, baseCommit: "1".repeat(40) },
      { borrow: project, baseCommit: "--help" },
      { borrow: project, baseCommit: scene.git(project, ["rev-parse", "HEAD^{tree}"]).trim() },
      { borrow: scene.dir, baseCommit: review.base },
    ]) {
      await expect(openReviews().create({ dir, ...request })).rejects.toMatchObject({
        code: "review.failed",
      });
    }
    expect(readdirSync(scene.dir).filter((name) => name.startsWith(basename(dir)))).toEqual([]);
    await expect(
      openReviews().create({ dir, borrow: project, baseCommit: review.base }),
    ).resolves.toBeDefined();
    await expect(openReviews().create({ dir, borrow: project })).rejects.toMatchObject({
      code: "review.failed",
    });
  });

  it("without a commit begins with nothing", async () => {
    const made = await openReviews().create({ dir: scene.fresh("r") });
    box = scene.project({ "a.txt": "one\n", "b.txt": "two\n" });
    const { commit, head } = await made.take(scene.snapshot(box, await made.have()), 1);
    expect(await made.totals(made.base, commit)).toEqual({ files: 2, added: 2, deleted: 0 });
    expect(await made.commits(made.base, head)).toHaveLength(1);
  });

  it("begins with the files of a directory, without what is ignored and what git cannot hold", async () => {
    const files = scene.fresh("files");
    scene.write(files, {
      ".gitignore": "node_modules\n",
      "node_modules/x.js": "x",
      "a.txt": "one\r\n",
      "n/b.txt": "b",
    });
    chmodSync(join(files, "a.txt"), 0o755);
    symlinkSync("/etc/passwd", join(files, "link"));
    scene.git(join(files, "n"), ["init", "-q"]);
    const made = await openReviews().create({ dir: scene.fresh("r"), files });
    const empty = await openReviews().create({ dir: scene.fresh("r") });
    scene.git(empty.gitDir, ["fetch", "-q", made.gitDir, "refs/agentbox/base"]);
    const changes = await empty.changes(empty.base, made.base);
    expect(changes.map(({ path, newMode }) => `${newMode} ${path}`)).toEqual([
      "100644 .gitignore",
      "100755 a.txt",
      "120000 link",
    ]);
    expect(Buffer.from((await made.fileAt(made.base, "a.txt", 9))!).toString()).toBe("one\r\n");
    expect(Buffer.from((await made.fileAt(made.base, "link", 99))!).toString()).toBe("/etc/passwd");
    expect(existsSync(join(files, ".git"))).toBe(false);
  });
});

describe("changes", () => {
  it("are of every kind, with modes, lines and sizes", async () => {
    await begin({
      "edit.txt": "a\nb\n",
      "gone.txt": "x\n",
      "old name.txt": lines(50),
      "run.sh": "#!/bin/sh\n",
      "turn.txt": "was a file\n",
      "image.bin": Buffer.from([0, 1, 2]),
    });
    scene.write(box, {
      "edit.txt": "a\nc\nd\n",
      "added.txt": "1\n2\n",
      "image.bin": Buffer.from([0, 1, 2, 3]),
    });
    rmSync(join(box, "gone.txt"));
    scene.git(box, ["mv", "old name.txt", "new\nname.txt"]);
    scene.write(box, { "new\nname.txt": `${lines(50)}more\n` });
    chmodSync(join(box, "run.sh"), 0o755);
    rmSync(join(box, "turn.txt"));
    symlinkSync("../../outside", join(box, "turn.txt"));
    scene.git(box, ["update-index", "--add", "--cacheinfo", `160000,${"4".repeat(40)},module`]);
    mkdirSync(join(box, "module"));
    const changes = await review.changes(review.base, await take());
    const short = Object.fromEntries(
      changes.map((c) => [c.path, [c.kind, c.oldMode, c.newMode, c.added, c.deleted, c.isBinary, c.bytes]]),
    );
    expect(short).toEqual({
      "added.txt": ["added", "000000", "100644", 2, 0, false, 4],
      "edit.txt": ["modified", "100644", "100644", 2, 1, false, 6],
      "gone.txt": ["deleted", "100644", "000000", 0, 1, false, 0],
      "image.bin": ["modified", "100644", "100644", 0, 0, true, 4],
      module: ["added", "000000", "160000", 1, 0, false, 0],
      "new\nname.txt": ["renamed", "100644", "100644", 1, 0, false, lines(50).length + 5],
      "run.sh": ["modified", "100644", "100755", 0, 0, false, 10],
      "turn.txt": ["type_changed", "100644", "120000", 1, 1, false, 13],
    });
    expect(changes.find(({ kind }) => kind === "renamed")?.oldPath).toBe("old name.txt");
    expect(changes.map((change) => Change.parse(change))).toEqual(changes);
    expect(await review.totals(review.base, review.base)).toEqual({ files: 0, added: 0, deleted: 0 });
    const sum = (key: "added" | "deleted"): number =>
      changes.reduce((total, change) => total + change[key], 0);
    expect(await review.totals(review.base, (await review.have()).find((id) => id !== review.base)!)).toEqual(
      {
        files: changes.length,
        added: sum("added"),
        deleted: sum("deleted"),
      },
    );
  });

  it("of ten thousand files are listed and read as fast as git adds them; beyond the limit they are refused", async () => {
    await begin({ "a.txt": "one\n" });
    for (let i = 0; i < 10_000; i++) scene.write(box, { [`d${i % 100}/f${i}.ts`]: `line ${i}\n`.repeat(20) });
    const adding = performance.now();
    scene.git(box, ["add", "-A"]);
    const addedMs = performance.now() - adding;
    const commit = await take();
    const started = performance.now();
    const changes = await review.changes(review.base, commit);
    const read = await Promise.all(changes.map(({ newId }) => review.blob(newId, 1 << 20)));
    // A process for each of them would take many times as long as git needs to write them all, on a busy machine too.
    expect((performance.now() - started) / addedMs).toBeLessThan(10);
    expect(changes).toHaveLength(10_000);
    expect(read.every(({ bytes, isWhole }, i) => isWhole && bytes.length === changes[i]!.bytes)).toBe(true);
    await expect(review.changes(review.base, commit, 9_999)).rejects.toMatchObject({
      code: "review.too_large",
    });
    await expect(review.changes(review.base, commit, 10_000)).resolves.toHaveLength(10_000);
  }, 60_000);

  it("are asked for by ids and nothing else", async () => {
    await begin({ "a.txt": "one\n" });
    for (const bad of ["--output=/tmp/x", "HEAD", "", `${review.base}~1`, `${review.base}\n`]) {
      await expect(review.changes(bad, review.base)).rejects.toMatchObject({ code: "review.failed" });
      await expect(review.totals(review.base, bad)).rejects.toMatchObject({ code: "review.failed" });
      await expect(bytesOf(review.patch(review.base, bad))).rejects.toMatchObject({ code: "review.failed" });
      await expect(review.blob(bad, 1)).rejects.toMatchObject({ code: "review.failed" });
      await expect(review.fileAt(bad, "a.txt", 1)).rejects.toMatchObject({ code: "review.failed" });
      await expect(review.commits(bad, review.base)).rejects.toMatchObject({ code: "review.failed" });
      await expect(bytesOf(review.bundle(bad))).rejects.toMatchObject({ code: "review.failed" });
    }
  });
});

describe("a patch", () => {
  it("can be applied, binary files and all", async () => {
    await begin({ "a.txt": lines(30), "b.bin": Buffer.from([0, 1, 2]), "c.txt": lines(20) });
    scene.write(box, { "a.txt": `${lines(30)}end\n`, "b.bin": Buffer.from([0, 9, 9]), 'q"\n.txt': "odd\n" });
    scene.git(box, ["mv", "c.txt", "d.txt"]);
    const commit = await take();
    const patch = await bytesOf(review.patch(review.base, commit, { isBinary: true }));
    const target = scene.clone(project);
    scene.git(target, ["apply", "--index", "-"], patch);
    const tree = scene.git(target, ["write-tree"]).trim();
    expect(tree).toBe(scene.git(box, ["rev-parse", "refs/agentbox/snapshot^{tree}"]).trim());
  });

  it("is of the paths that were asked for, taken literally", async () => {
    await begin({ "a.txt": "one\n" });
    scene.write(box, { "*": "star\n", "a.txt": "two\n", ":(exclude)x": "odd\n" });
    const commit = await take();
    const of = async (path: string): Promise<string> =>
      (await bytesOf(review.patch(review.base, commit, { paths: [path], contextLines: 0 }))).toString();
    expect(await of("*")).toContain("+star");
    expect(await of("*")).not.toContain("+two");
    expect(await of(":(exclude)x")).toContain("+odd");
    expect(await of("--output=x")).toBe("");
  });

  it("can be left half-read", async () => {
    await begin({ "a.txt": "one\n" });
    scene.write(box, { "long.txt": lines(500_000) });
    const commit = await take();
    for await (const chunk of review.patch(review.base, commit)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect((await review.totals(review.base, commit)).added).toBe(500_000);
  });
});

describe("contents", () => {
  it("are cut at the limit, large or small", async () => {
    await begin({ "a.txt": "one\n" });
    scene.write(box, { "small.txt": "abcdef", "large.txt": "x".repeat(3 << 20), "empty.txt": "" });
    const changes = await review.changes(review.base, await take());
    const idOf = (path: string): string => changes.find((change) => change.path === path)!.newId;
    expect(await review.blob(idOf("small.txt"), 3)).toEqual({ bytes: Buffer.from("abc"), isWhole: false });
    expect(await review.blob(idOf("small.txt"), 6)).toEqual({ bytes: Buffer.from("abcdef"), isWhole: true });
    expect(await review.blob(idOf("empty.txt"), 6)).toMatchObject({ isWhole: true });
    const cut = await review.blob(idOf("large.txt"), 2 << 20);
    expect([cut.bytes.length, cut.isWhole]).toEqual([2 << 20, false]);
    const whole = await review.blob(idOf("large.txt"), 4 << 20);
    expect([whole.bytes.length, whole.isWhole]).toEqual([3 << 20, true]);
    await expect(review.blob("5".repeat(40), 1)).rejects.toMatchObject({ code: "review.failed" });
    await expect(review.blob(review.base, 1)).rejects.toMatchObject({ code: "review.failed" });
  });

  it("are a coded error when the project or the review has gone", async () => {
    await begin({ "a.txt": "one\n" });
    scene.write(box, { "b.txt": "two\n" });
    const commit = await take();
    const expectFailed = async (): Promise<void> => {
      const failed = { code: "review.failed" };
      await expect(review.changes(review.base, commit)).rejects.toMatchObject(failed);
      await expect(review.totals(review.base, commit)).rejects.toMatchObject(failed);
      await expect(bytesOf(review.patch(review.base, commit))).rejects.toMatchObject(failed);
      await expect(bytesOf(review.bundle(commit))).rejects.toMatchObject(failed);
    };
    renameSync(project, `${project}-moved`);
    await expectFailed();
    renameSync(`${project}-moved`, project);
    expect(await review.changes(review.base, commit)).toHaveLength(1);
    rmSync(review.gitDir, { recursive: true });
    await expect(review.changes(review.base, commit)).rejects.toHaveProperty("code");
    const gone = await openReviews().open(review.gitDir);
    expect(gone).toBeUndefined();
    await expect(review.blob("6".repeat(40), 10)).rejects.toMatchObject({ code: "review.failed" });
    await expect(bytesOf(review.patch(review.base, commit))).rejects.toMatchObject({ code: "review.failed" });
  });

  it("of a path that is not a file are not there", async () => {
    await begin({ "sub/a.txt": "one\n" });
    for (const path of [
      "",
      "sub",
      "sub/",
      "none",
      "/sub/a.txt",
      "./sub/a.txt",
      "../a",
      "a\0b",
      "sub/a.txt/x",
    ]) {
      expect(await review.fileAt(review.base, path, 10)).toBeUndefined();
    }
    expect(await review.fileAt(review.base, "sub/a.txt", 10)).toBeDefined();
  });
});

describe("a bundle for a box", () => {
  it("brings a checkpoint to a clone of the project, without sending the project", async () => {
    await begin({
      "a.txt": lines(10),
      "big.bin": Buffer.from(Array.from({ length: 99_999 }, (_, i) => (i * 7919) % 251)),
    });
    scene.write(box, { "a.txt": "new\n" });
    const commit = await take();
    const file = scene.fresh("restore");
    writeFileSync(file, await bytesOf(review.bundle(commit)));
    expect(statSync(file).size).toBeLessThan(2_000);
    const other = scene.clone(project);
    scene.git(other, ["fetch", "-q", file, "refs/agentbox/checkpoint:refs/agentbox/restored"]);
    expect(scene.git(other, ["show", "refs/agentbox/restored:a.txt"])).toBe("new\n");
    writeFileSync(file, await bytesOf(review.bundle(review.base)));
    scene.git(other, ["fetch", "-q", file, "+refs/agentbox/checkpoint:refs/agentbox/restored"]);
    expect(scene.git(other, ["rev-parse", "refs/agentbox/restored"]).trim()).toBe(review.base);
  });

  it("is complete where the base is ours", async () => {
    const files = scene.fresh("files");
    scene.write(files, { "a.txt": "one\n" });
    const made = await openReviews().create({ dir: scene.fresh("r"), files });
    const file = scene.fresh("restore");
    writeFileSync(file, await bytesOf(made.bundle(made.base)));
    const other = scene.project({});
    scene.git(other, ["fetch", "-q", file, "refs/agentbox/checkpoint:refs/agentbox/restored"]);
    expect(scene.git(other, ["show", "refs/agentbox/restored:a.txt"])).toBe("one\n");
  });
});
