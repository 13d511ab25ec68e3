/**
 * Real agents for tests. Installing six of them takes minutes and a gigabyte, so each is installed once by AgentBox
 * itself and kept for the next runs; a test's daemon gets a copy, which it verifies as it would any other.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agents } from "../../src/agents/index.ts";
import { readLock, withLocked, writeLock, emptyLock } from "../../src/contract/lock-file.ts";
import { type TestDaemon, startDaemon } from "./daemon.ts";
import { runProgram } from "./program.ts";
import { whyNoBoxes } from "./test-runtime.ts";

/** Which agents the tests use: `all`, or names with commas. Default: one, so that `npm test` stays short. */
const wanted = process.env["AGENTBOX_TEST_AGENTS"] ?? "claude";
const isWanted = (agent: string): boolean => wanted === "all" || wanted.split(",").includes(agent);

const installTimeoutMs = 570_000;

/** Of this user alone: what lies in it is run. */
function cacheDir(): string {
  const directory = join(tmpdir(), `agentbox-test-agents-${process.getuid?.() ?? 0}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

function kept(agent: string): string {
  const install = agents[agent]?.install;
  const version = install?.kind === "npm" || install?.kind === "pypi" ? install.version : "none";
  return join(cacheDir(), `${agent}-${version}`);
}

/** Why this agent cannot be tested here, or undefined when it can. It is installed on the way. */
export async function whyNoAgent(agent: string): Promise<string | undefined> {
  const missing = await whyNoBoxes();
  if (missing !== undefined) return missing;
  if (!isWanted(agent)) return `AGENTBOX_TEST_AGENTS does not name ${agent}`;
  if (existsSync(kept(agent))) return undefined;
  return install(agent);
}

/** Undefined when it worked. Only a registry that cannot be reached excuses; everything else is a failure. */
async function install(agent: string): Promise<string | undefined> {
  // With the person's own environment, in which registries and proxies are configured.
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry) => entry[1] !== undefined),
  ) as Record<string, string>;
  // As this user, also if the runtime under test needs another one: the environment and the kept files are this user's.
  const user = { uid: process.getuid!(), gid: process.getgid!() };
  await using daemon = await startDaemon({ env, user });
  const { code, stderr } = await daemon.cli(["agents", "add", agent], { env, timeoutMs: installTimeoutMs });
  if (code !== 0) return `${agent} cannot be installed: ${stderr.trim()}`;
  const staged = mkdtempSync(join(cacheDir(), ".new-"));
  await copyTree(join(daemon.home, "tools/agents", agent), join(staged, "tree"));
  cpSync(join(daemon.home, "agentbox.lock"), join(staged, "agentbox.lock"));
  renameSync(staged, kept(agent));
  return undefined;
}

/** Gives an installed agent to a daemon that has not looked for it yet. */
export async function giveAgent(
  { home }: TestDaemon,
  agent: string,
  owner?: { uid: number; gid: number },
): Promise<void> {
  const target = join(home, "tools/agents");
  mkdirSync(target, { recursive: true, mode: 0o711 });
  await copyTree(join(kept(agent), "tree"), join(target, agent));
  const lockFile = join(home, "agentbox.lock");
  const before = existsSync(lockFile) ? readLock(readFileSync(lockFile, "utf8"), lockFile) : emptyLock;
  const entry = readLock(readFileSync(join(kept(agent), "agentbox.lock"), "utf8"), "kept").agents[agent];
  writeFileSync(lockFile, writeLock(withLocked(before, agent, entry)), { mode: 0o600 });
  if (owner) await expectRun(["chown", "-R", `${owner.uid}:${owner.gid}`, join(home, "tools"), lockFile]);
}

/** With modes and links as they are; the store compares them. */
const copyTree = (from: string, to: string): Promise<void> =>
  expectRun(["cp", "-a", "--reflink=auto", "--", from, to]);

async function expectRun(argv: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram(argv, { timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
}
