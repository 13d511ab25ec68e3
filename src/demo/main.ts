/**
 * The demo agent. It needs no key and no internet: it tries what a box must refuse, says what the system answered,
 * then repairs a bug in the sample project and commits it. Exit code 0 only if all of that went as it should.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type DemoReport, sampleProject } from "../contract/demo.ts";
import { attemptNetwork, attemptProcesses, attemptReadHome, attemptWriteOutside } from "./attempts.ts";

const { values } = parseArgs({
  options: {
    home: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
    color: { type: "boolean", default: false },
  },
});
const isColoured = values.color || process.stdout.isTTY;
const paint = (code: number, text: string) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
const say = (text: string) => process.stdout.write(`${text}\n`);
const step = (text: string) => say(`\n${paint(1, text)}`);

interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Never a shell; a program that is missing counts as failed. */
const run = (program: string, args: readonly string[], cwd: string): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd, timeout: 20_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ code, output: `${stdout}${stderr}`.trim() });
    });
  });

/** The project to work on: the one that is here, or one that the demo brings along. */
async function openProject(): Promise<string> {
  const here = process.cwd();
  if (existsSync(join(here, sampleProject.buggyFile))) return here;
  const dir = join(here, "agentbox-demo");
  await mkdir(dir, { recursive: true });
  for (const [name, text] of Object.entries(sampleProject.files)) await writeFile(join(dir, name), text);
  return dir;
}

async function fixBug(dir: string): Promise<{ isFixed: boolean; commit: string | undefined }> {
  const file = join(dir, sampleProject.buggyFile);
  const test = () => run(process.execPath, [sampleProject.testFile], dir);
  const before = await test();
  const complaint = /^AssertionError.*$/m.exec(before.output)?.[0] ?? before.output.split("\n")[0] ?? "";
  say(`  $ node ${sampleProject.testFile}   ${before.code === 0 ? "passes" : paint(31, "fails")}`);
  if (before.code !== 0) say(paint(2, `    ${complaint.slice(0, 70)}`));
  const source = await readFile(file, "utf8");
  await writeFile(file, source.replace(sampleProject.bug, sampleProject.fix));
  say(`  The loop skips the first item. ${sampleProject.bug} becomes ${paint(32, sampleProject.fix)}`);
  const after = await test();
  say(`  $ node ${sampleProject.testFile}   ${after.code === 0 ? paint(32, "passes") : paint(31, "fails")}`);
  return { isFixed: after.code === 0, commit: await commit(dir) };
}

async function commit(dir: string): Promise<string | undefined> {
  const git = (...args: string[]) =>
    run("git", ["-c", "user.name=demo", "-c", "user.email=demo@agentbox.invalid", ...args], dir);
  if ((await git("rev-parse", "--git-dir")).code !== 0) return undefined;
  await git("add", "--all", ".");
  const made = await git("commit", "--quiet", "-m", "Count the first item of the cart");
  if (made.code !== 0) return undefined;
  const { output } = await git("log", "-1", "--format=%h %s");
  say(`  $ git commit   ${paint(2, output)}`);
  return output.split(" ")[0];
}

async function main(): Promise<number> {
  say(`${paint(1, "Hello.")} I am the demo agent, in ${process.cwd()}, and I do as I like. Do I?`);
  step("First, four things I should not get away with");
  const tries = [() => attemptReadHome(values.home), attemptNetwork, attemptProcesses, attemptWriteOutside];
  const attempts = [];
  for (const attempt of tries) {
    const result = await attempt();
    attempts.push(result);
    const verdict = result.isRefused ? paint(32, "refused") : paint(31, "ALLOWED");
    say(`  ${result.name.padEnd(27)} ${verdict}  ${paint(2, result.evidence)}`);
  }
  step("Then the work I am here for");
  const { isFixed, commit } = await fixBug(await openProject());
  const ok = isFixed && attempts.every((attempt) => attempt.isRefused);
  const report: DemoReport = { attempts, isFixed, commit, ok };
  if (values.json) say(JSON.stringify(report));
  return ok ? 0 : 1;
}

// The bundle is CommonJS, which cannot wait at the top.
void main().then((code) => (process.exitCode = code));
