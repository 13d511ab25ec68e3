// A change of 10,000 files against what plain git needs for the same: taking it out of the box (a checkpoint) against
// git add, and the review of it (every path, the danger lane with its secret scan) against git diff. Each round is a box
// of its own. A review under two seconds is good whatever git needs.
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

interface Times {
  readonly take: number;
  readonly look: number;
}

async function ours(daemon: TestDaemon, project: string, round: number): Promise<Times> {
  const { box } = await daemon.client.createBox({ name: `large-${round}`, projectDir: project });
  const made = await daemon.cli(["exec", box.name, "--", "node", "-e", write]);
  if (made.code !== 0) throw new Error(`The files were not made: ${made.stderr}`);
  const take = await timeMs(() => daemon.client.takeCheckpoint(box.name));
  const look = await timeMs(async () => {
    const { changes } = await daemon.client.getReview(box.name, { to: "latest" });
    if (changes.length !== files) throw new Error(`The review has ${changes.length} changes.`);
  });
  await daemon.client.removeBox(box.name, { force: true });
  return { take, look };
}

async function plainGit(project: string): Promise<Times> {
  const clone = `${project}-plain`;
  await mustRun(["git", "clone", "-q", "--local", project, clone]);
  mkdirSync(join(clone, "x"), { recursive: true });
  await mustRun(["sh", "-c", `cd "$1" && "$2" -e "$3"`, "write", clone, process.execPath, write]);
  const take = await timeMs(() => mustRun(["git", "-C", clone, "add", "-A"]));
  const look = await timeMs(() =>
    mustRun(["git", "-C", clone, "diff", "--cached", "--raw", "--numstat", "-M"]),
  );
  rmSync(clone, { recursive: true, force: true });
  return { take, look };
}

const bench: Bench = {
  name,
  about: "10,000 changed files: a checkpoint against git add, the review with its dangers against git diff",
  run: () =>
    withDaemon(async (daemon) => {
      const project = await makeProject(daemon);
      const own: Times[] = [];
      const git: Times[] = [];
      for (let round = 0; round < rounds; round += 1) {
        own.push(await ours(daemon, project, round));
        git.push(await plainGit(project));
      }
      const middle = (times: readonly Times[], step: keyof Times) => median(times.map((time) => time[step]));
      const reviewMs = middle(own, "look");
      return [
        compare({
          name: `${name}-checkpoint`,
          unit: "ms",
          ours: middle(own, "take"),
          peer: middle(git, "take"),
          peerName: "git add",
        }),
        compare({
          name,
          unit: "ms",
          ours: reviewMs,
          peer: middle(git, "look"),
          peerName: "git diff",
          goal: 1,
          alsoOk: reviewMs < enoughMs,
        }),
      ];
    }),
};
export default bench;
