import { mkdtemp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { run } from "../../host/run.ts";
import { readBranch } from "./read-branch.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "abx-branch-"));
  await mkdir(join(dir, "work/.git"), { recursive: true });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const head = (text: string) => writeFile(join(dir, "work/.git/HEAD"), text);
const branch = () => readBranch(join(dir, "work"));

it("reads the branch, and nothing where there is none", async () => {
  await head("ref: refs/heads/team/topic\n");
  expect(await branch()).toBe("team/topic");
  for (const text of [
    `${"1".repeat(40)}\n`,
    "",
    "ref: refs/tags/x\n",
    "ref: refs/heads/a b\n",
    `ref: refs/heads/${"x".repeat(2000)}\n`,
  ]) {
    await head(text);
    expect(await branch()).toBeUndefined();
  }
  expect(await readBranch(join(dir, "absent"))).toBeUndefined();
});

it("follows no link and waits for no pipe that a box has put there", async () => {
  await mkdir(join(dir, "secret"));
  await writeFile(join(dir, "secret/HEAD"), "ref: refs/heads/secret\n");
  // The control: what the links lead to is a branch.
  await symlink("../secret/HEAD", join(dir, "work/.git/other"));
  await head("ref: refs/heads/own\n");
  expect(await branch()).toBe("own");
  await rm(join(dir, "work/.git/HEAD"));
  await symlink(join(dir, "secret/HEAD"), join(dir, "work/.git/HEAD"));
  expect(await branch()).toBeUndefined();
  await rm(join(dir, "work/.git/HEAD"));
  await run(["mkfifo", join(dir, "work/.git/HEAD")]);
  expect(await branch()).toBeUndefined();
  await rm(join(dir, "work/.git"), { recursive: true });
  await symlink(join(dir, "secret"), join(dir, "work/.git"));
  expect(await branch()).toBeUndefined();
});
