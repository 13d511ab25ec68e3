import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { MergeRequest, PreparedWork } from "../../ports/merge.ts";
import { MergeFixture } from "./merge.fixture.ts";

let f: MergeFixture;
beforeEach(async () => {
  f = await MergeFixture.create({ "a.txt": "one\n", "b.txt": "x\n".repeat(20) });
});
afterEach(() => f.remove());

async function prepared(request: MergeRequest, onto?: string): Promise<PreparedWork> {
  const work = await f.merges.prepare(request, onto);
  if (work.outcome !== "prepared") throw new AgentBoxError("merge.failed", JSON.stringify(work));
  return work;
}

const show = ({ gitDir, commit }: PreparedWork, format: string): string =>
  execFileSync("git", [
    "-c",
    "safe.directory=*",
    "--git-dir",
    gitDir,
    "log",
    "-1",
    `--format=${format}`,
    commit,
  ])
    .toString()
    .trim();

const objects = () => readdir(join(f.project, ".git/objects"), { recursive: true });

describe("work that is prepared for another place", () => {
  it.each(["squash", "commits"] as const)("(%s) leaves no trace in the project", async (mode) => {
    const begun = f.head();
    const request = await f.work(async (box) => {
      await f.write({ "a.txt": "two\n" }, box);
      f.commit("Agent's own", box);
    }, mode);
    // The person goes on, and is in the middle of something.
    await f.write({ "own.txt": "mine\n" });
    f.commit("mine");
    await f.write({ "b.txt": "dirty\n", ".git/MERGE_HEAD": `${begun}\n` });
    const [before, had] = [await f.state(), await objects()];
    const work = await prepared(request, begun);
    expect(show(work, "%P")).toBe(begun);
    expect(show(work, "%an|%cn")).toBe(mode === "squash" ? "Claude|A Person" : "An Agent|A Person");
    expect(show(work, "%(trailers)")).toContain("AgentBox-Box: team-app");
    expect(work.files).toBe(1);
    expect(await f.state()).toEqual(before);
    expect(await objects()).toEqual(had);
    await work[Symbol.asyncDispose]();
    expect(existsSync(work.gitDir)).toBe(false);
  });

  it("follows HEAD where no other commit is named", async () => {
    const request = await f.work((box) => f.write({ "a.txt": "two\n" }, box));
    await f.write({ "own.txt": "mine\n" });
    const mine = f.commit("mine");
    await using work = await prepared(request);
    expect(show(work, "%P")).toBe(mine);
  });

  it("finds what it began with although the project has lost it", async () => {
    const begun = f.head();
    const request = await f.work((box) => f.write({ "a.txt": "two\n" }, box));
    f.git(["checkout", "-q", "--orphan", "other"]);
    f.commit("other");
    f.git(["branch", "-q", "-D", "main"]);
    f.git(["reflog", "expire", "--expire=now", "--all"]);
    f.git(["gc", "-q", "--prune=now"]);
    await using work = await prepared(request, begun);
    expect(show(work, "%P")).toBe(begun);
  });

  it("says so when there is a conflict, or nothing", async () => {
    const request = await f.work((box) => f.write({ "a.txt": "two\n" }, box));
    await f.write({ "a.txt": "three\n" });
    const mine = f.commit("mine");
    expect(await f.merges.prepare(request, mine)).toMatchObject({ outcome: "conflict" });
    await f.write({ "a.txt": "two\n" });
    const same = f.commit("the same");
    expect(await f.merges.prepare(request, same)).toEqual({ outcome: "nothing" });
    expect(await readdir(join(f.dir, "tmp"))).toEqual([]);
  });
});
