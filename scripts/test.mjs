// `npm test [-- filter]`: unit tests first, then those that start programs, then those with real boxes. Every test that did
// not run is listed by name with its reason. The last line is "N passed, N failed", with ", N skipped" when there were any.
// AGENTBOX_TEST_ENGINES=all installs Chromium, web servers and the container engines that some tests start for themselves, and runs what depends on the
// runtime in Docker, rootless Podman and gVisor as well; with AGENTBOX_TEST_WHOLE=1, all suites of the box, gate and vault.
//
//   --no-skips-except FILE   a skip that FILE does not name (lines "test name | reason") is a failure
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { renderMatrix } from "./agent-matrix.mjs";
import { root, run } from "./steps.mjs";
import { ensurePrograms } from "./system-packages.mjs";
import { programsFor } from "./test-programs.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "no-skips-except": { type: "string" },
    project: { type: "string", multiple: true },
    testNamePattern: { type: "string", short: "t" },
  },
});

/** Runs a project, or the part of its files that `shard` names ("1/4"), and returns what the summary needs of it. */
async function runProject({ project, shard }, directory) {
  const title = shard === undefined ? project : `${project} ${shard}`;
  const file = join(directory, `${title.replaceAll(/[ /]/g, "-")}.json`);
  const result = await run(
    [
      process.execPath,
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      // "unit" stands for "unit-alone" as well.
      `--project=${project === "unit" ? "unit*" : project}`,
      ...(shard === undefined ? [] : [`--shard=${shard}`]),
      "--passWithNoTests",
      "--reporter=default",
      `--reporter=${join(root, "scripts/test-report.mjs")}`,
      ...(values.testNamePattern === undefined ? [] : ["-t", values.testNamePattern]),
      ...positionals,
    ],
    { show: true, env: { ...process.env, AGENTBOX_TEST_REPORT: file } },
  );
  const report = {
    passed: 0,
    failed: [],
    reasons: {},
    skipped: [],
    matrix: [],
    again: [],
    files: [],
    ...readReport(file),
  };
  report.title = title;
  report.seconds = result.ms / 1000;
  if (containers.includes(project)) {
    const named = (name) => `in ${project}: ${name}`;
    report.failed = report.failed.map(named);
    report.reasons = Object.fromEntries(
      Object.entries(report.reasons).map(([name, lines]) => [named(name), lines]),
    );
  }
  if (result.code !== 0 && report.failed.length === 0) {
    report.failed.push(
      `vitest ended with code ${result.code} in the ${project} tests, without naming a test`,
    );
  }
  return report;
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

/** Names of tests that may be skipped, each with its reason after a bar; # starts a comment. */
function readAllowedSkips(file) {
  const lines = readFileSync(file, "utf8").split("\n");
  const entries = lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  return new Set(entries.map((line) => line.split("|")[0].trim()));
}

const isWhole = process.env.AGENTBOX_TEST_ENGINES === "all";
const containers = ["docker", "podman", "gvisor"];
const isWanted = (project) => values.project?.includes(project) ?? (!containers.includes(project) || isWhole);

for (const programs of programsFor(isWanted, isWhole)) {
  const { isInstalled, reason } = await ensurePrograms(programs);
  if (!isInstalled) console.log(`${reason}\nTests that need them are skipped.\n`);
}

/** The files of a project in parts that can run side by side; a chosen few files are one part. */
const inParts = (project, parts) =>
  positionals.length > 0 || values.testNamePattern !== undefined
    ? [[{ project }]]
    : Array.from({ length: parts }, (_, index) => [{ project, shard: `${index + 1}/${parts}` }]);

/**
 * Unit tests use the whole machine. What comes after them starts programs and mostly waits for them, so three run side by
 * side, the longest first. Jobs of one list run one after the other: one engine at a time is enough for a small machine.
 */
const stages = [
  { lanes: 1, lists: [[{ project: "unit" }]] },
  {
    lanes: 3,
    lists: [
      ["engines", ...containers].map((project) => ({ project })),
      [{ project: "web" }],
      ...inParts("system", 4),
      [{ project: "agents" }],
      [{ project: "programs" }],
    ],
  },
];

async function runStage({ lanes, lists }, directory) {
  const waiting = lists.map((jobs) => jobs.filter(({ project }) => isWanted(project)));
  const done = [];
  const runLane = async () => {
    for (let jobs = waiting.shift(); jobs !== undefined; jobs = waiting.shift())
      for (const job of jobs) done.push(await runProject(job, directory));
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return done;
}

const directory = mkdtempSync(join(tmpdir(), "agentbox-test-"));
const reports = [];
try {
  for (const stage of stages) reports.push(...(await runStage(stage, directory)));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

const passed = reports.reduce((sum, report) => sum + report.passed, 0);
const failed = reports.flatMap((report) => report.failed);
const whyFailed = Object.assign({}, ...reports.map((report) => report.reasons));
// With a name pattern, vitest reports every other test as skipped, without a reason.
const notRun = reports
  .flatMap((report) => report.skipped)
  .filter(({ reason }) => reason || !values.testNamePattern);

const allowedSkips =
  values["no-skips-except"] === undefined ? undefined : readAllowedSkips(values["no-skips-except"]);

/** Why a skip does not count as one, or undefined when it is in order. */
function judgeSkip({ name, reason }) {
  if (reason === "") return 'skipped without a reason: call ctx.skip("why")';
  if (allowedSkips && !allowedSkips.has(name)) return `expected to run here, but skipped: ${reason}`;
  return undefined;
}
failed.push(...notRun.filter(judgeSkip).map((skip) => `${skip.name} (${judgeSkip(skip)})`));
const skipped = notRun.filter((skip) => judgeSkip(skip) === undefined);
if (passed + failed.length + skipped.length === 0)
  failed.push(`no test matches ${positionals.join(" ") || "anything"}`);

const matrix = reports.flatMap((report) => report.matrix);
if (matrix.length > 0) console.log(`\nAgents:\n${renderMatrix(matrix)}`);

const slowest = reports
  .flatMap(({ title, files }) => files.map(({ name, seconds }) => ({ name: `${name} (${title})`, seconds })))
  .sort((a, b) => b.seconds - a.seconds);
const line = ({ name, seconds }) => `${String(Math.round(seconds)).padStart(6)} s  ${name}`;
console.log("\nTime per project:");
for (const { title, seconds, files } of reports)
  console.log(line({ name: `${title} (${files.length} files)`, seconds }));
if (slowest.length > 10) {
  console.log("Slowest files:");
  for (const file of slowest.slice(0, 10)) console.log(line(file));
}

console.log("");
if (skipped.length > 0) console.log("Skipped:");
for (const { name, reason } of skipped) console.log(`  ${name}\n    because: ${reason}`);
const again = reports.flatMap((report) => report.again);
if (again.length > 0) console.log("Passed only at the second try:");
for (const name of again) console.log(`  ${name}`);
if (failed.length > 0) console.log("Failed:");
for (const name of failed) {
  console.log(`  ${name}`);
  for (const reason of whyFailed[name] ?? []) console.log(`      ${reason}`);
}
console.log(
  `${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`,
);
process.exitCode = failed.length > 0 ? 1 : 0;
