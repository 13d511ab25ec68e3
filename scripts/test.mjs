// `npm test [-- filter]`: unit tests first, then those that start programs, then those with real boxes. Every test that did
// not run is listed by name with its reason. The last line is "N passed, N failed", with ", N skipped" when there were any.
// AGENTBOX_TEST_ENGINES=all installs Chromium and the container engines that some tests start for themselves, and runs what depends on the
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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "no-skips-except": { type: "string" },
    project: { type: "string", multiple: true },
    testNamePattern: { type: "string", short: "t" },
  },
});

/** What the tests use as programs; Debian's package for each. */
const neededPrograms = {
  bwrap: "bubblewrap",
  git: "git",
  unshare: "util-linux",
  ip: "iproute2",
  // Clients and servers of the network tests.
  curl: "curl",
  wget: "wget",
  dig: "bind9-dnsutils",
  openssl: "openssl",
  sshd: "openssh-server",
  psql: "postgresql",
  python3: "python3",
  pip3: "python3-pip",
  javac: "default-jdk-headless",
  go: "golang-go",
  gh: "gh",
  // A real keyring for the vault.
  "secret-tool": "libsecret-tools",
  "gnome-keyring-daemon": "gnome-keyring",
  "dbus-run-session": "dbus",
};

/** Container engines and what they need, installed on request only: on a person's machine that is the person's choice. */
const enginePrograms = {
  dockerd: "docker.io",
  podman: "podman",
  crun: "crun",
  runsc: "runsc",
  newuidmap: "uidmap",
  slirp4netns: "slirp4netns",
  "fuse-overlayfs": "fuse-overlayfs",
  rootlesskit: "rootlesskit",
  mmdebstrap: "mmdebstrap",
  // Runs what `agentbox compose` writes.
  "docker-compose": "docker-compose",
};

/** A browser for the dashboard's tests; installed on request only, as engines are. */
const browserPrograms = { chromium: "chromium" };

async function runProject(project, directory) {
  const file = join(directory, `${project}.json`);
  const result = await run(
    [
      process.execPath,
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      `--project=${project}`,
      "--passWithNoTests",
      "--reporter=default",
      `--reporter=${join(root, "scripts/test-report.mjs")}`,
      ...(values.testNamePattern === undefined ? [] : ["-t", values.testNamePattern]),
      ...positionals,
    ],
    { show: true, env: { ...process.env, AGENTBOX_TEST_REPORT: file } },
  );
  const report = { passed: 0, failed: [], skipped: [], matrix: [], again: [], ...readReport(file) };
  if (containers.includes(project)) report.failed = report.failed.map((name) => `in ${project}: ${name}`);
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
const wantedPrograms = [neededPrograms, ...(isWhole ? [enginePrograms, browserPrograms] : [])];
for (const programs of wantedPrograms) {
  const { isInstalled, reason } = await ensurePrograms(programs);
  if (!isInstalled) console.log(`${reason}\nTests that need them are skipped.\n`);
}

const containers = ["docker", "podman", "gvisor"];
/**
 * One after the other; what is side by side in a stage mostly waits, for boxes and for engines. A browser does not: it gets
 * the machine for itself.
 */
const stages = [[["unit"]], [["programs"]], [["web"]], [["system"], ["engines", ...containers, "agents"]]];
const isWanted = (project) => values.project?.includes(project) ?? (!containers.includes(project) || isWhole);

async function runLane(lane, directory) {
  const reports = [];
  for (const project of lane) reports.push(await runProject(project, directory));
  return reports;
}

const directory = mkdtempSync(join(tmpdir(), "agentbox-test-"));
const reports = [];
try {
  for (const lanes of stages) {
    const wanted = lanes.map((lane) => lane.filter(isWanted));
    reports.push(...(await Promise.all(wanted.map((lane) => runLane(lane, directory)))).flat());
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

const passed = reports.reduce((sum, report) => sum + report.passed, 0);
const failed = reports.flatMap((report) => report.failed);
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

console.log("");
if (skipped.length > 0) console.log("Skipped:");
for (const { name, reason } of skipped) console.log(`  ${name}\n    because: ${reason}`);
const again = reports.flatMap((report) => report.again);
if (again.length > 0) console.log("Passed only at the second try:");
for (const name of again) console.log(`  ${name}`);
if (failed.length > 0) console.log("Failed:");
for (const name of failed) console.log(`  ${name}`);
console.log(
  `${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`,
);
process.exitCode = failed.length > 0 ? 1 : 0;
