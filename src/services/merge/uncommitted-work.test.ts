import { chmod, mkdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MergeMode } from "../../contract/review/merge.ts";
import { MergeFixture } from "./merge.fixture.ts";

let f: MergeFixture;
beforeEach(async () => {
  f = await MergeFixture.create({
    "a.txt": "one\n",
    "sub/b.txt": "two\n",
    "c.txt": "three\n",
    "d.txt": "four\n",
    ".gitignore": "*.secret\nignored/\n",
  });
});
afterEach(() => f.remove());

/** One of each kind, none of which the work touches. */
async function workOfThePerson(): Promise<void> {
  await f.write({ "c.txt": "staged\n", "staged-new.txt": "new and staged\n" });
  f.git(["add", "c.txt", "staged-new.txt"]);
  await f.write({ "c.txt": "staged, then changed again\n", "d.txt": "changed\n", "untracked.txt": "u\n" });
  await f.write({ "my.secret": "ignored\n", "intent.txt": "later\n" });
  f.git(["add", "-N", "intent.txt"]);
  f.git(["rm", "-q", "--cached", "sub/b.txt"]);
}

const ownStatus = (): string =>
  f.git(["status", "--porcelain", "sub", "c.txt", "d.txt", "staged-new.txt", "intent.txt", "untracked.txt"]);

const edit = (box: string) => f.write({ "a.txt": "the agent's\n", "new/e.txt": "five\n" }, box);

describe("uncommitted work elsewhere", () => {
  it.each<MergeMode>(["squash", "commits", "patch"])("is as it was after %s and after undo", async (mode) => {
    const request = await f.work(edit, mode);
    await workOfThePerson();
    const [before, own] = [await f.state(), ownStatus()];
    const record = await f.merged(request);
    const files = await f.files(f.project);
    expect(files).toMatchObject({
      "a.txt": "100644 the agent's\n",
      "new/e.txt": "100644 five\n",
      "c.txt": "100644 staged, then changed again\n",
      "d.txt": "100644 changed\n",
      "untracked.txt": "100644 u\n",
      "my.secret": "100644 ignored\n",
    });
    expect(f.git(["show", ":c.txt"])).toBe("staged\n");
    expect(ownStatus()).toBe(own);
    await f.merges.undo(record);
    expect(await f.state()).toEqual(before);
  });
});

it("a file that was only touched is not in the way", async () => {
  const request = await f.work(edit);
  await utimes(join(f.project, "a.txt"), 1, 1);
  expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged" });
});

describe("uncommitted work in the way", () => {
  const cases: Record<string, { make: () => Promise<unknown>; paths: string[] }> = {
    "a changed file": { make: () => f.write({ "a.txt": "mine\n" }), paths: ["a.txt"] },
    "a staged file": {
      make: async () => {
        await f.write({ "a.txt": "mine\n" });
        f.git(["add", "a.txt"]);
      },
      paths: ["a.txt"],
    },
    "a staged file that was changed back": {
      make: async () => {
        await f.write({ "a.txt": "mine\n" });
        f.git(["add", "a.txt"]);
        await f.write({ "a.txt": "one\n" });
      },
      paths: ["a.txt"],
    },
    "a file that is as the work would make it": {
      make: () => f.write({ "a.txt": "the agent's\n" }),
      paths: ["a.txt"],
    },
    "a deleted file": { make: () => rm(join(f.project, "a.txt")), paths: ["a.txt"] },
    "a changed mode": { make: () => chmod(join(f.project, "a.txt"), 0o755), paths: ["a.txt"] },
    "an untracked file": { make: () => f.write({ "new/e.txt": "mine\n" }), paths: ["new/e.txt"] },
    "an untracked file in the place of a directory": {
      make: () => f.write({ new: "mine\n" }),
      paths: ["new/e.txt"],
    },
    "an untracked link in the place of a directory": {
      make: () => symlink(f.dir, join(f.project, "new")),
      paths: ["new/e.txt"],
    },
    "an untracked directory in the place of a file": {
      make: () => f.write({ "new/e.txt/mine": "x\n" }),
      paths: ["new/e.txt"],
    },
    "a file that is marked as unchanged": {
      make: async () => {
        f.git(["update-index", "--assume-unchanged", "a.txt"]);
        await f.write({ "a.txt": "mine\n" });
      },
      paths: ["a.txt"],
    },
  };

  it.each(Object.entries(cases))("%s", async (_, { make, paths }) => {
    const request = await f.work(edit);
    await make();
    const before = await f.state();
    expect(await f.merges.plan(request)).toEqual({ outcome: "dirty", paths });
    expect(await f.merges.apply(request)).toEqual({ outcome: "dirty", paths });
    expect(await f.state()).toEqual(before);
    f.git(["update-index", "--no-assume-unchanged", "a.txt"]);
    f.git(["stash", "-q", "--include-untracked"]);
    expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged" });
  });

  it("an ignored file, which git itself would overwrite", async () => {
    const request = await f.work(async (box) => {
      await f.write({ "my.secret": "the agent's\n" }, box);
      f.git(["add", "-f", "my.secret"], box);
    });
    await f.write({ "my.secret": "mine\n" });
    expect(await f.merges.apply(request)).toEqual({ outcome: "dirty", paths: ["my.secret"] });
    expect(await readFile(join(f.project, "my.secret"), "utf8")).toBe("mine\n");
    // The control: plain git loses it.
    f.git(["fetch", "-q", f.review, request.commit]);
    f.git(["read-tree", "-m", "-u", "HEAD", request.commit]);
    expect(await readFile(join(f.project, "my.secret"), "utf8")).toBe("the agent's\n");
  });

  it("ignored files in a directory that becomes a file", async () => {
    const request = await f.work(async (box) => {
      await rm(join(box, "sub"), { recursive: true });
      await writeFile(join(box, "sub"), "a file\n");
    });
    await f.write({ "sub/ignored/deep": "mine\n" });
    expect(await f.merges.apply(request)).toEqual({ outcome: "dirty", paths: ["sub"] });
    await rm(join(f.project, "sub/ignored"), { recursive: true });
    expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged" });
  });
});

describe("undo", () => {
  it("refuses when something was changed since, and says what", async () => {
    const record = await f.merged(await f.work(edit));
    await f.write({ "new/e.txt": "edited since\n" });
    const before = await f.state();
    await expect(f.merges.undo(record)).rejects.toMatchObject({
      code: "merge.cannot_undo",
      facts: { paths: ["new/e.txt"] },
    });
    expect(await f.state()).toEqual(before);
    f.git(["checkout", "-q", "--", "new/e.txt"]);
    await f.merges.undo(record);
    expect(f.head()).toBe(record.before);
  });

  it("refuses when the branch has moved on, or is another one", async () => {
    const record = await f.merged(await f.work(edit));
    f.git(["checkout", "-q", "-b", "other"]);
    await expect(f.merges.undo(record)).rejects.toMatchObject({ code: "merge.cannot_undo" });
    f.git(["checkout", "-q", "main"]);
    f.commit("more");
    await expect(f.merges.undo(record)).rejects.toMatchObject({ code: "merge.cannot_undo" });
    f.git(["reset", "-q", "--soft", "HEAD~1"]);
    await f.merges.undo(record);
  });

  it("of a patch refuses when a file was changed, and not when it was committed elsewhere", async () => {
    const record = await f.merged(await f.work(edit, "patch"));
    await f.write({ "a.txt": "edited since\n" });
    await expect(f.merges.undo(record)).rejects.toMatchObject({
      code: "merge.cannot_undo",
      facts: { paths: ["a.txt"] },
    });
    await f.write({ "a.txt": "the agent's\n" });
    await f.merges.undo(record);
    expect(f.git(["status", "--porcelain"])).toBe("");
  });
});

describe("a repository in the middle of something", () => {
  it.each([
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_START",
    "rebase-merge/",
    "rebase-apply/",
  ])("%s", async (name) => {
    const request = await f.work(edit);
    const path = join(f.project, ".git", name);
    if (name.endsWith("/")) await mkdir(path);
    else await writeFile(path, `${f.head()}\n`);
    await expect(f.merges.apply(request)).rejects.toMatchObject({
      code: "merge.failed",
      hint: expect.stringMatching("abort"),
    });
    await rm(path, { recursive: true });
    expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged" });
  });

  it("another git at work: its lock is respected", async () => {
    const request = await f.work(edit);
    const before = await f.state();
    await writeFile(join(f.project, ".git/index.lock"), "");
    await expect(f.merges.apply(request)).rejects.toMatchObject({ code: "merge.failed" });
    await rm(join(f.project, ".git/index.lock"));
    expect(await f.state()).toEqual(before);
    expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged" });
  });
});
