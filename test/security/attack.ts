/**
 * Shared by the threat tests: a daemon for each kind of user, a box that is there already, and code that runs in it.
 */
import { chmodSync, lchownSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { boxPaths } from "../../src/contract/box.ts";
import type { EventType } from "../../src/contract/events.ts";
import { startDaemon, type TestDaemon, type TestDaemonOptions } from "../support/daemon.ts";
import { hasProgram, isRoot, ordinaryUser } from "../support/host-facts.ts";
import { type ProgramResult, runProgram } from "../support/program.ts";
import { testRuntime, whyNoBoxes } from "../support/test-runtime.ts";

export interface Ground {
  readonly daemon: TestDaemon;
  /** Whether boxes have users of their own. */
  readonly isRootDaemon: boolean;
}

export interface GroundOptions extends Omit<TestDaemonOptions, "user"> {
  /** Shared by all cases, once per daemon. */
  readonly prepare?: (daemon: TestDaemon) => Promise<unknown>;
}

const users = [
  { who: "this user", user: undefined },
  { who: "an ordinary user", user: ordinaryUser },
];

/** An engine of the tests is one user's, so there is one daemon that can use it. */
const usersHere = testRuntime === undefined ? users : [{ who: "the engine's user", user: testRuntime.user }];

/** Runs the cases against a daemon of this user and, where root can, against one of an ordinary user. */
export function onEachDaemon(
  title: string,
  cases: (ground: Ground) => void,
  options: GroundOptions = {},
): void {
  describe.each(usersHere)(`${title}, with a daemon of $who`, ({ user }) => onDaemonOf(user, cases, options));
}

/**
 * Runs the cases against one daemon: for decisions that do not depend on its user, such as those about the content of work. That
 * daemons of both users read, judge and land work is shown by the suites of threats 22, 23, 24 and 27.
 */
export function onOneDaemon(
  title: string,
  cases: (ground: Ground) => void,
  options: GroundOptions = {},
): void {
  describe(title, () => onDaemonOf(testRuntime?.user, cases, options));
}

function onDaemonOf(
  user: TestDaemonOptions["user"],
  cases: (ground: Ground) => void,
  { prepare, ...options }: GroundOptions,
): void {
  let daemon: TestDaemon | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    missing = user && !isRoot ? "only root can run the daemon as another user" : await whyNoBoxes(user);
    if (missing !== undefined) return;
    daemon = await startDaemon({ ...options, ...omitUndefined({ user }) });
    await prepare?.(daemon);
  });
  beforeEach((ctx) => {
    if (missing !== undefined) ctx.skip(missing);
  });
  afterAll(() => daemon?.[Symbol.asyncDispose]());
  cases({
    get daemon() {
      if (daemon === undefined) throw new Error("There is no daemon.");
      return daemon;
    },
    isRootDaemon: isRoot && user === undefined,
  });
}

/** Cases about the host alone, the same for boxes of any runtime: they run once, beside the embedded ones. */
export function hostCases(cases: () => void): void {
  if (testRuntime === undefined) cases();
}

/** A running box with an empty workspace. */
export async function emptyBox(
  { client }: TestDaemon,
  name: string,
  flags: Record<string, unknown> = {},
): Promise<string> {
  await client.createBox({ name, flags: { workspace: { mode: "empty" }, ...flags } });
  return name;
}

export const inBox = (daemon: TestDaemon, box: string, argv: readonly string[]): Promise<ProgramResult> =>
  daemon.cli(["exec", box, "--no-stdin", "--", ...argv]);

export const shellInBox = (daemon: TestDaemon, box: string, script: string): Promise<ProgramResult> =>
  inBox(daemon, box, ["sh", "-c", script]);

/** For a shell in a box: the number of its supervisor, which differs from runtime to runtime. */
export const boxdPid = `$(for p in /proc/[0-9]*; do [ "$(tr '\\0' '\\n' < $p/cmdline | sed -n 2p)" = ${boxPaths.boxd} ] && echo "\${p#/proc/}"; done)`;

/** The runtime under test, as the doctor calls it. */
export const runtimeName = testRuntime?.name ?? "bubblewrap";

/** Runs a JavaScript program that prints one JSON value. */
export async function nodeInBox<T>(daemon: TestDaemon, box: string, script: string): Promise<T> {
  const { code, stdout, stderr } = await inBox(daemon, box, ["node", "-e", script]);
  if (code !== 0) throw new Error(`The program in the box ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** The same program outside of any box, for controls. */
export async function nodeOnHost<T>(script: string): Promise<T> {
  const { code, stdout, stderr } = await runProgram([process.execPath, "-e", script]);
  if (code !== 0) throw new Error(`The program ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export const compilerMissing = (): string | undefined =>
  hasProgram("cc") ? undefined : "there is no C compiler (cc)";

/** Builds a C program of the tests where every user may run it. */
export async function compile(source: string): Promise<string> {
  const directory = mkdtempSync(join(process.env["AGENTBOX_TEST_RUN"] ?? tmpdir(), "probe-"));
  chmodSync(directory, 0o755);
  const program = join(directory, "probe");
  const { code, stderr } = await runProgram(["cc", "-O1", "-w", "-o", program, source]);
  if (code !== 0) throw new Error(`cc failed: ${stderr}`);
  chmodSync(program, 0o755);
  return program;
}

/** The newest events of a type; what was noted in the background may still be on its way, so ask with waitFor. */
export const eventsOf = async ({ client }: TestDaemon, type: EventType, box?: string) =>
  (await client.listEvents({ type, order: "newest", limit: 50, ...omitUndefined({ box }) })).events;

/** Gives a tree of the test's own to another user; links themselves, never what they point to. */
export function chownTree(directory: string, { uid, gid }: { uid: number; gid: number }): void {
  const below = readdirSync(directory, { recursive: true, withFileTypes: true });
  for (const path of [directory, ...below.map((entry) => join(entry.parentPath, entry.name))])
    lchownSync(path, uid, gid);
}
