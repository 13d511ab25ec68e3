// A review of a change of 10,000 files (the work taken out of the box, every path, the danger lane with its secret scan)
// against what plain git needs to add and diff the same files. The first look, when nothing has been taken yet; each
// round is a box of its own. Under two seconds is good whatever git needs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestDaemon, withDaemon } from "../test/support/daemon.ts";
import { mustRun } from "./support/agentbox.ts";
import { type Bench, compare, median, timeMs } from "./support/bench.ts";

const name = "review-large-change";
const files = 10_000;
const rounds = 3;
const enoughMs = 2_000;

const write = `for (let i = 0; i < ${files}; i++) {
  const dir = "d" + (i % 100); require("node:fs").mkdirSync(dir, { recursive: true });
  require("node:fs").writeFileSync(dir + "/f" + i + ".js", "export const value = " + i + ";\\n".repeat(20)); }`;

async function makeProject(daemon: TestDaemon): Promise<string> {
  const project = mkdtempSync(join(daemon.scratch, "project-"));
  writeFileSync(join(project, "README.md"), "# Project\n");
  const git = (...args: string[]) =>
    mustRun(["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@example.org", ...args]);
  await git("init", "-q");
  await git("add", "-A");
  await git("commit", "-qm", "First");
  return project;
}

async function ours(daemon: TestDaemon, project: string, round: number): Promise<number> {
  const { box } = await daemon.client.createBox({ name: `large-${round}`, projectDir: project });
  const made = await daemon.cli(["exec", box.name, "--", "node", "-e", write]);
  if (made.code !== 0) throw new Error(`The files were not made: ${made.stderr}`);
  const ms = await timeMs(async () => {
    const { changes } = await daemon.client.getReview(box.name);
    if (changes.length !== files) throw new Error(`The review has ${changes.length} changes.`);
  });
  await daemon.client.removeBox(box.name, { force: true });
  return ms;
}

async function plainGit(project: string): Promise<number> {
  const clone = `${project}-plain`;
  await mustRun(["git", "clone", "-q", "--local", project, clone]);
  mkdirSync(join(clone, "x"), { recursive: true });
  await mustRun(["sh", "-c", `cd "$1" && "$2" -e "$3"`, "write", clone, process.execPath, write]);
  const ms = await timeMs(async () => {
    await mustRun(["git", "-C", clone, "add", "-A"]);
    await mustRun(["git", "-C", clone, "diff", "--cached", "--raw", "--numstat", "-M"]);
  });
  rmSync(clone, { recursive: true, force: true });
  return ms;
}

const bench: Bench = {
  name,
  about: "a review of 10,000 changed files, with its dangers, against git add and git diff of the same",
  run: () =>
    withDaemon(async (daemon) => {
      const project = await makeProject(daemon);
      const times = { ours: [] as number[], peer: [] as number[] };
      for (let round = 0; round < rounds; round += 1) {
        times.ours.push(await ours(daemon, project, round));
        times.peer.push(await plainGit(project));
      }
      const [reviewMs, gitMs] = [median(times.ours), median(times.peer)];
      return [
        compare({
          name,
          unit: "ms",
          ours: reviewMs,
          peer: gitMs,
          peerName: "git add and git diff",
          goal: 1,
          alsoOk: reviewMs < enoughMs,
        }),
      ];
    }),
};
export default bench;
