/**
 * Found by attack: a manifest in a parent directory that belongs to another user was taken without a question. Files
 * that are orders must be the caller's own or root's, and writable only by them.
 */
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { hasProgram, isRoot, ordinaryUser } from "../support/host-facts.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";
import { eventsOf } from "./attack.ts";

const stranger = 1_999;
const text = 'version = 1\n[workspace]\nmode = "empty"\n';
let daemon: TestDaemon;
let parent: string;
let manifest: string;
let work: string;
let missing: string | undefined;

beforeAll(async () => {
  missing =
    isRoot && hasProgram("setpriv") ? await whyNoBoxes(ordinaryUser) : "only root can give files away";
  if (missing === undefined) daemon = await startDaemon({ user: ordinaryUser });
});
beforeEach((ctx) => {
  if (missing !== undefined) ctx.skip(missing);
  parent = mkdtempSync("/tmp/abx-shared-");
  [manifest, work] = [join(parent, "agentbox.toml"), join(parent, "work")];
  chmodSync(parent, 0o755);
  writeFileSync(manifest, text, { mode: 0o644 });
  mkdirSync(work);
  give(ordinaryUser.uid);
  return () => rmSync(parent, { recursive: true, force: true });
});
afterAll(() => daemon?.[Symbol.asyncDispose]());

/** The work is always the caller's own; what lies above is this user's. */
function give(uid: number): void {
  for (const path of [parent, manifest]) chownSync(path, uid, uid);
  chownSync(work, ordinaryUser.uid, ordinaryUser.gid);
}

const inWork = (...args: string[]) => daemon.cli(args, { cwd: work });
const viaApi = () =>
  daemon.client.createBox({
    projectDir: parent,
    manifest: { file: manifest, text },
    start: false,
    ephemeral: false,
  });

async function expectTaken(): Promise<void> {
  const shown = await inWork("trust", "show");
  expect(shown, shown.stderr).toMatchObject({ code: 0 });
  const made = await inWork("create", "--name", "taken");
  expect(made, made.stderr).toMatchObject({ code: 0 });
  await inWork("rm", "--force", "taken");
}

async function expectRefused(problem: RegExp): Promise<void> {
  for (const args of [
    ["trust", "show"],
    ["create", "--name", "refused"],
    ["validate"],
    ["run", "shell", "--", "true"],
  ]) {
    const refused = await inWork(...args);
    expect(refused.code, `${args.join(" ")}: ${refused.stderr}`).toBe(args[0] === "run" ? 125 : 5);
    expect(refused.stderr).toMatch(problem);
    expect(refused.stderr).toContain("[trust] directories");
  }
  const before = (await eventsOf(daemon, "trust.refused")).length;
  await expect(viaApi()).rejects.toMatchObject({ code: "file.foreign" });
  const events = await eventsOf(daemon, "trust.refused");
  expect(events.length).toBe(before + 1);
  expect(events[0]!.data).toMatchObject({
    path: manifest,
    problem: expect.stringMatching(problem) as string,
  });
  expect(await daemon.client.listBoxes()).toEqual([]);
}

describe("a manifest above the work", () => {
  it("of another user is refused, and taken when a person names its directory", async () => {
    await expectTaken();
    give(stranger);
    await expectRefused(/belongs to user 1999/);
    const config = join(daemon.home, "config.toml");
    writeFileSync(config, `[trust]\ndirectories = ["${parent}"]\n`, { mode: 0o600 });
    chownSync(config, ordinaryUser.uid, ordinaryUser.gid);
    await expectTaken();
    // The person's own config is writable only by them.
    chownSync(config, stranger, stranger);
    chmodSync(config, 0o644);
    await expect(viaApi()).rejects.toMatchObject({ code: "file.foreign" });
    rmSync(config);
  });

  it("in a directory of another user is refused, although it is the caller's own", async () => {
    give(stranger);
    chownSync(manifest, ordinaryUser.uid, ordinaryUser.gid);
    await expectRefused(/lies in a directory that belongs to user 1999/);
  });

  it.each([
    { what: "file", mode: 0o666, problem: /can be written by everybody/ },
    { what: "file", mode: 0o664, problem: /can be written by group 1999/ },
    { what: "directory", mode: 0o777, problem: /directory that can be written by everybody/ },
    { what: "directory", mode: 0o775, problem: /directory that can be written by group 1999/ },
  ])("that others can write is refused: $what, $mode", async ({ what, mode, problem }) => {
    const path = what === "file" ? manifest : parent;
    chownSync(path, ordinaryUser.uid, stranger);
    await expectTaken();
    chmodSync(path, mode);
    await expectRefused(problem);
  });

  it("of root is taken, also from a directory like /tmp", async () => {
    give(0);
    chmodSync(parent, 0o1777);
    await expectTaken();
  });
});

it("an agent that another user has defined is ignored", async () => {
  const directory = join(daemon.home, "agents");
  const file = join(directory, "notebot.toml");
  mkdirSync(directory, { mode: 0o700 });
  cpSync(new URL("../fixtures/agents/notebot.toml", import.meta.url), file);
  for (const path of [directory, file]) chownSync(path, ordinaryUser.uid, ordinaryUser.gid);
  const isListed = async () => (await daemon.client.listAgents()).some(({ name }) => name === "notebot");
  expect(await isListed()).toBe(true);
  chownSync(file, stranger, stranger);
  expect(await isListed()).toBe(false);
  const { stdout } = await daemon.cli(["agents", "doctor", "--json"]);
  expect(stdout).toContain("belongs to user 1999");
});

it("a daemon that another user has put into the place of the caller's own is sent nothing", async () => {
  const home = mkdtempSync("/tmp/abx-home-");
  const socket = join(home, "daemon.sock");
  const sent: string[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => sent.push(chunk.toString()));
    request.on("end", () => response.end(JSON.stringify({ secrets: [] })));
  });
  try {
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    chmodSync(socket, 0o777);
    const setSecret = () =>
      daemon.cli(["vault", "set", "token"], { stdin: "canary-5512", env: { AGENTBOX_HOME: home } });
    for (const [uid, mode, problem] of [
      [stranger, 0o755, /belongs to user 1999/],
      [ordinaryUser.uid, 0o777, /can be written by others/],
    ] as const) {
      chownSync(home, uid, uid);
      chmodSync(home, mode);
      const refused = await setSecret();
      expect(refused).toMatchObject({ code: 5, stderr: expect.stringMatching(problem) as string });
      expect(sent).toEqual([]);
    }
    // The control: in a directory of the caller's own it is what the command line believes.
    chmodSync(home, 0o755);
    await setSecret();
    expect(sent.join("")).toContain(Buffer.from("canary-5512").toString("base64"));
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
});
