import { chmod, lstat, readFile, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MergeFixture } from "./merge.fixture.ts";

let f: MergeFixture;
beforeEach(async () => {
  f = await MergeFixture.create({ "a.txt": "one\ntwo\nthree\nfour\n", "b.txt": "b\n", "run.sh": "x\n" });
});
afterEach(() => f.remove());

const edit = async (box: string) => {
  await rename(join(box, "a.txt"), join(box, "renamed.txt"));
  await f.write({ "new.txt": "new\n" }, box);
  f.commit("By the agent", box);
  await f.write({ "bin.dat": Buffer.from([0, 255, 1, 10, 13]), "odd\nname": "odd\n" }, box);
  await symlink("b.txt", join(box, "link"));
  await chmod(join(box, "run.sh"), 0o755);
};

it("a patch that git applies, with everything that a file can be", async () => {
  const request = await f.work(edit);
  const file = join(f.dir, "out.patch");
  await f.merges.export(request, "patch", file);
  f.git(["apply", "--index", file]);
  expect(f.git(["write-tree"])).toBe(f.git(["rev-parse", `${request.commit}^{tree}`], f.review));
});

it("a bundle with one branch that git fetches", async () => {
  f.commit("second");
  const request = await f.work(edit);
  const file = join(f.dir, "out.bundle");
  const refs = f.git(["for-each-ref"], f.review);
  await f.merges.export(request, "bundle", file, { branch: "agentbox/team-app" });
  expect(f.git(["bundle", "list-heads", file])).toBe(`${request.commit} refs/heads/agentbox/team-app\n`);
  f.git(["fetch", "-q", file, "agentbox/team-app:landed"]);
  expect(f.git(["log", "-2", "--format=%s", "landed"])).toBe("snapshot\nBy the agent\n");
  expect(f.git(["for-each-ref"], f.review)).toBe(refs);
});

it("a bundle of work without a past stands for itself, and without work there is no bundle", async () => {
  const file = join(f.dir, "out.bundle");
  await f.merges.export(await f.work(edit), "bundle", file);
  f.git(["clone", "-q", "-b", "agentbox/work", file, join(f.dir, "copy")], f.dir);
  f.commit("second");
  const nothing = await f.work(() => undefined);
  await expect(f.merges.export(nothing, "bundle", join(f.dir, "none"))).rejects.toMatchObject({
    code: "review.nothing",
  });
  expect(await readdir(f.dir)).not.toContain("none");
});

it("writes over nothing unless it may, and through no link", async () => {
  const request = await f.work(edit);
  const file = join(f.dir, "out.patch");
  const precious = join(f.dir, "precious");
  await writeFile(precious, "precious");
  await writeFile(file, "mine");
  await expect(f.merges.export(request, "patch", file)).rejects.toMatchObject({ code: "merge.failed" });
  expect(await readFile(file, "utf8")).toBe("mine");
  await f.merges.export(request, "patch", file, { overwrite: true });
  expect(await readFile(file, "utf8")).toContain("rename to renamed.txt");
  await rm(file);
  await symlink(precious, file);
  for (const overwrite of [true, false])
    await expect(f.merges.export(request, "patch", file, { overwrite })).rejects.toMatchObject({
      code: "merge.failed",
    });
  expect((await lstat(file)).isSymbolicLink()).toBe(true);
  expect(await readFile(precious, "utf8")).toBe("precious");
  expect((await readdir(f.dir)).filter((name) => name.startsWith(".agentbox"))).toEqual([]);
});

it.each(["../../x", "-x", "a..b", "a.lock", "a b", "a\nb", ""])("no branch is called %j", async (branch) => {
  const request = await f.work(edit);
  await expect(f.merges.export(request, "bundle", join(f.dir, "x"), { branch })).rejects.toMatchObject({
    code: "merge.failed",
  });
});
