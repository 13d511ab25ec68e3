import { chmod, mkdir, readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MergeMode } from "../../contract/review/merge.ts";
import { MergeFixture } from "./merge.fixture.ts";

let f: MergeFixture;
beforeEach(async () => {
  f = await MergeFixture.create({
    "a.txt": "one\n",
    "b.txt": "two\n",
    "c.txt": "three\n",
    "d.txt": "four\n",
  });
});
afterEach(() => f.remove());

const edit = async (box: string) => {
  await f.write({ "a.txt": "the agent's\n", "new/e.txt": "five\n", "b.txt": "the agent's too\n" }, box);
  await rm(join(box, "d.txt"));
};

/** The state in which a step is while it goes on: the objects and the notes are there, nothing else. */
async function begun(mode: MergeMode = "squash") {
  const request = await f.work(edit, mode);
  await f.write({ "c.txt": "the person's\n", "untracked.txt": "u\n" });
  const before = await f.state();
  f.git(["fetch", "-q", f.review, request.commit]);
  f.git(["update-ref", "refs/worktree/agentbox/merge-head", "HEAD"]);
  f.git(["update-ref", "refs/worktree/agentbox/merge-from", f.git(["rev-parse", "HEAD^{tree}"]).trim()]);
  f.git([
    "update-ref",
    "refs/worktree/agentbox/merge-to",
    f.git(["rev-parse", `${request.commit}^{tree}`]).trim(),
  ]);
  return { request, before };
}

describe("a step that was cut off", () => {
  it("before any file: is as if it had not begun", async () => {
    const { request, before } = await begun();
    await f.merges.plan(request);
    expect(await f.state()).toEqual(before);
  });

  it.each<MergeMode>(["squash", "patch"])(
    "between files: %s takes it back and does it again",
    async (mode) => {
      const { request, before } = await begun(mode);
      await f.write({ "a.txt": "the agent's\n", "new/e.txt": "five\n" });
      await rm(join(f.project, "b.txt"));
      await rm(join(f.project, "d.txt"));
      await f.merges.plan(request);
      expect(await f.state()).toEqual(before);
      expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged", record: { files: 4 } });
    },
  );

  it("between the files and the branch", async () => {
    const { request, before } = await begun();
    f.git(["read-tree", "-m", "-u", "HEAD", request.commit]);
    await f.merges.plan(request);
    expect(await f.state()).toEqual(before);
  });

  it("a file the person has written since is left alone and named", async () => {
    const { request } = await begun();
    await f.write({ "a.txt": "written since\n", "new/e.txt": "five\n" });
    expect(await f.merges.apply(request)).toEqual({ outcome: "dirty", paths: ["a.txt"] });
    expect(await readFile(join(f.project, "a.txt"), "utf8")).toBe("written since\n");
  });

  it("after the branch, or after the person has committed it: only the notes go", async () => {
    const { request } = await begun();
    f.git(["read-tree", "-m", "-u", "HEAD", request.commit]);
    f.git(["commit", "-q", "-m", "the person's own"]);
    const files = await f.files(f.project);
    expect(await f.merges.plan(request)).toEqual({ outcome: "nothing" });
    expect(await f.files(f.project)).toEqual(files);
    expect(f.git(["for-each-ref", "refs/worktree"])).toBe("");
  });

  it("a file that cannot be written: nothing is left half-written", async () => {
    const request = await f.work((box) =>
      f.write({ "a.txt": "new\n", "locked/x.txt": "x\n", "z.txt": "z\n" }, box),
    );
    const before = await f.state();
    const locked = join(f.project, "locked");
    // The daemon takes the rights of the repository's owner, so what keeps them out keeps root out.
    if (process.getuid!() === 0) await f.giveTo(1000);
    await chmod(f.dir, 0o755);
    await mkdir(locked, { mode: 0o555 });
    await expect(f.merges.apply(request)).rejects.toMatchObject({ code: "merge.failed" });
    await rmdir(locked);
    expect(await f.state()).toEqual(before);
    expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged" });
  });

  it("a branch that cannot be moved: nothing is left half-written", async () => {
    const request = await f.work(edit);
    const before = await f.state();
    // This is found out last, when the files are new already.
    await writeFile(join(f.project, ".git/refs/heads/main.lock"), "");
    await expect(f.merges.apply(request)).rejects.toMatchObject({ code: "merge.failed" });
    await rm(join(f.project, ".git/refs/heads/main.lock"));
    expect(await f.state()).toEqual(before);
    expect(await f.merges.apply(request)).toMatchObject({ outcome: "merged" });
  });
});

describe("at the same time", () => {
  it("merges into one repository wait for each other and all land", async () => {
    const requests = [];
    for (const name of ["x", "y", "z"])
      requests.push(await f.work((box) => f.write({ [name]: `${name}\n` }, box)));
    const outcomes = await Promise.all(requests.map((request) => f.merges.apply(request)));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["merged", "merged", "merged"]);
    expect(f.git(["rev-list", "--count", "HEAD"]).trim()).toBe("4");
    expect(f.git(["status", "--porcelain"])).toBe("");
  });

  it("leaves no room behind", async () => {
    const request = await f.work(edit);
    await f.merges.export(request, "bundle", join(f.dir, "out.bundle"));
    await f.merges.undo(await f.merged(request));
    await expect(f.merges.apply({ ...request, author: "nobody" })).rejects.toMatchObject({
      code: "merge.failed",
    });
    expect(await readdir(join(f.dir, "tmp"))).toEqual([]);
  });
});
