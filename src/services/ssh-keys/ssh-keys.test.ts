/** The keys with a real ssh-agent and real keys; the ssh client is one of the test's own. */
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { SecretBinding, SshDestination } from "../../contract/secret/binding.ts";
import { systemClock } from "../../host/clock.ts";
import { silentLogger } from "../../host/logger.ts";
import { isAlive, listPids, readCmdline, signalProcess } from "../../host/processes.ts";
import { runOk } from "../../host/run.ts";
import type { SshKeys } from "../../ports/ssh-keys.ts";
import { whyNoSshClient } from "../../../test/support/host-facts.ts";
import { failureMessage, messageKind, parseIdentities } from "./agent-messages.ts";
import { openSshKeys } from "./index.ts";
import { signRefusals } from "./sign-decision.ts";
import {
  FixtureHost,
  FixtureProgram,
  fileSignature,
  git,
  newSession,
  signInData,
  signMessage,
  sshBinding,
} from "./ssh-keys.fixture.ts";

const box = { name: "b", incarnation: "i" };
const [host, other] = [new FixtureHost(), new FixtureHost()];
const missing = whyNoSshClient();
let dir = "";
const secrets = new Map<string, Buffer>();
const publicKeys = new Map<string, Buffer>();

async function makeKey(name: string, ...more: string[]): Promise<void> {
  const file = join(dir, name);
  await runOk(["ssh-keygen", "-q", "-N", "", "-C", "person@laptop", "-f", file, ...more]);
  secrets.set(name, readFileSync(file));
  publicKeys.set(name, Buffer.from(readFileSync(`${file}.pub`, "utf8").split(" ")[1]!, "base64"));
}

describe("keys in an agent of the host", () => {
  let keys: SshKeys;
  let records: { binding: string; destination: SshDestination | undefined; refusal: string | undefined }[];
  let isGranted: boolean;
  let reveals: number;

  beforeAll(async () => {
    if (missing !== undefined) return;
    dir = mkdtempSync(join(tmpdir(), "abx-ssh-"));
    await makeKey("deploy", "-t", "ed25519");
    await makeKey("second", "-t", "ecdsa");
    // The form that other programs write.
    await makeKey("rsa", "-t", "rsa", "-b", "2048", "-m", "PEM");
    await makeKey("locked", "-t", "ed25519", "-N", "a passphrase");
    secrets.set("twin", secrets.get("deploy")!);
    secrets.set("nonsense", Buffer.from("no key\n"));
    secrets.set("bare", Buffer.from(secrets.get("deploy")!.toString().trim()));
  });
  afterAll(() => {
    if (dir !== "") rmSync(dir, { recursive: true, force: true });
  });

  const agents = async (): Promise<number[]> => {
    const pids = await listPids();
    const lines = await Promise.all(pids.map(async (pid) => ({ pid, argv: await readCmdline(pid) })));
    return lines
      .filter(({ argv }) => argv[0] === "ssh-agent" && argv.some((part) => part.startsWith(join(dir, "run"))))
      .map(({ pid }) => pid);
  };

  beforeEach(async (ctx) => {
    if (missing !== undefined) ctx.skip(missing);
    records = [];
    isGranted = true;
    reveals = 0;
    writeFileSync(join(dir, "known_hosts"), host.line("git.example") + host.line("[git.example]:2222"));
    keys = await openSshKeys({
      dir: join(dir, "run"),
      knownHostsFiles: [join(dir, "known_hosts")],
      clock: systemClock,
      logger: silentLogger,
      limits: { retryMs: 0 },
      listener: {
        authorise: async () => isGranted,
        reveal: async (secret) => {
          reveals += 1;
          const value = secrets.get(secret);
          if (value === undefined) throw new Error("the vault is locked");
          return Buffer.from(value);
        },
        signed: (_box, binding, destination, refusal) =>
          records.push({ binding: binding.name, destination, refusal }),
      },
    });
  });
  afterEach(async () => {
    if (missing !== undefined) return;
    await keys[Symbol.asyncDispose]();
    expect(await agents()).toEqual([]);
    expect(existsSync(join(dir, "run"))).toBe(false);
  });

  function dial(name = "b"): FixtureProgram {
    const program = new FixtureProgram();
    keys.serve(name, program.far);
    return program;
  }

  const list = async (program = dial()): Promise<readonly Buffer[] | undefined> =>
    parseIdentities(await program.ask(Buffer.from([messageKind.requestIdentities])));

  /** Signs in to a server like ssh does; the first byte of the answer. */
  async function signIn(secret: string, server = host, more: { user?: string; isPlain?: boolean } = {}) {
    const program = dial();
    const [sessionId, key] = [newSession(), publicKeys.get(secret)!];
    await program.ask(server.bind(sessionId));
    const hostKey = more.isPlain ? {} : { hostKey: server.blob };
    const data = signInData({ sessionId, key, user: more.user ?? "git", ...hostKey });
    const answer = await program.ask(signMessage(key, data));
    program.socket.destroy();
    return answer[0];
  }

  const set = (...bindings: SecretBinding[]): void => keys.setBox(box, bindings);
  const last = () => records.at(-1);

  test("nothing runs before the box asks; then it lists, signs in, and the key's file says nothing", async () => {
    set(sshBinding("deploy", [git]), sshBinding("second", [git]), sshBinding("rsa", [git]));
    expect(await agents()).toEqual([]);
    expect(reveals).toBe(0);
    const program = dial();
    const listed = await program.ask(Buffer.from([messageKind.requestIdentities]));
    expect(parseIdentities(listed)).toEqual(["deploy", "second", "rsa"].map((name) => publicKeys.get(name)));
    expect(listed.toString("latin1")).not.toContain("laptop");
    expect(await agents()).toHaveLength(1);
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
    expect(await signIn("deploy", host, { isPlain: true })).toBe(messageKind.signResponse);
    expect(await signIn("second")).toBe(messageKind.signResponse);
    expect(records).toEqual([
      { binding: "deploy", destination: git, refusal: undefined },
      { binding: "deploy", destination: git, refusal: undefined },
      { binding: "second", destination: git, refusal: undefined },
    ]);
    expect(await agents()).toHaveLength(1);
  });

  test("the agent's directory and socket are its owner's alone, and no key is in a file or an argument", async () => {
    set(sshBinding("deploy", [git]));
    await list();
    const ring = join(dir, "run", "1");
    expect(statSync(join(dir, "run")).mode & 0o777).toBe(0o700);
    expect(statSync(ring).mode & 0o777).toBe(0o700);
    expect(statSync(join(ring, "a")).mode & 0o177).toBe(0);
    expect(readdirSync(ring).toSorted()).toEqual(["a", "known_hosts"]);
    expect(readFileSync(join(ring, "known_hosts"), "utf8")).toBe(host.line("git.example"));
    const [pid] = await agents();
    expect((await readCmdline(pid!)).join(" ")).toBe(`ssh-agent -D -a ${join(ring, "a")}`);
  });

  test("another server, user, session, an unproven session and a file's signature are refused and recorded", async () => {
    set(sshBinding("deploy", [git]));
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
    expect(await signIn("deploy", other)).toBe(messageKind.failure);
    expect(last()).toEqual({ binding: "deploy", destination: undefined, refusal: signRefusals.other_server });
    expect(await signIn("deploy", host, { user: "root" })).toBe(messageKind.failure);
    expect(last()?.refusal).toBe(signRefusals.other_user);

    const key = publicKeys.get("deploy")!;
    const program = dial();
    const sessionId = newSession();
    // SECURITY: a session that the server has not signed is not to be trusted; the agent finds that out.
    expect(await program.ask(host.bind(sessionId, false, newSession()))).toEqual(failureMessage);
    expect(await program.ask(signMessage(key, signInData({ sessionId, key })))).toEqual(failureMessage);
    expect(last()?.refusal).toBe(signRefusals.not_bound);
    expect((await program.ask(host.bind(sessionId)))[0]).toBe(messageKind.success);
    expect(await program.ask(signMessage(key, fileSignature()))).toEqual(failureMessage);
    expect(last()?.refusal).toBe(signRefusals.not_a_sign_in);
    expect((await program.ask(signMessage(key, signInData({ sessionId, key }))))[0]).toBe(
      messageKind.signResponse,
    );
  });

  test("the same key works for the other server once it is bound to it", async () => {
    writeFileSync(join(dir, "known_hosts"), other.line("[other.example]:2222"), { flag: "a" });
    const destination = { host: "other.example", port: 2222 };
    set(sshBinding("deploy", [git]));
    expect(await signIn("deploy", other)).toBe(messageKind.failure);
    set(sshBinding("deploy", [git, destination]));
    expect(await signIn("deploy", other)).toBe(messageKind.signResponse);
    expect(last()).toEqual({ binding: "deploy", destination, refusal: undefined });
    // Two bindings of one secret are one key with the destinations of both.
    set(sshBinding("deploy", [git]), sshBinding("deploy", [destination], { name: "more" }));
    expect(await signIn("deploy", other)).toBe(messageKind.signResponse);
    expect(last()).toMatchObject({ binding: "more" });
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
    expect(last()).toMatchObject({ binding: "deploy" });
  });

  test("without a grant the key is listed, and signs nothing", async () => {
    set(sshBinding("deploy", [git]));
    isGranted = false;
    expect(await list()).toEqual([publicKeys.get("deploy")]);
    expect(await signIn("deploy")).toBe(messageKind.failure);
    expect(records).toEqual([{ binding: "deploy", destination: git, refusal: signRefusals.not_granted }]);
    isGranted = true;
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
  });

  test("a server that this host does not know is refused with a hint, until it is known", async () => {
    writeFileSync(join(dir, "known_hosts"), "");
    set(sshBinding("deploy", [git]));
    const first = dial();
    expect(await list(first)).toEqual([]);
    expect(last()).toMatchObject({
      destination: git,
      refusal: expect.stringContaining("ssh-keyscan -p 22 git.example"),
    });
    first.socket.destroy();
    first.far.destroy();
    writeFileSync(join(dir, "known_hosts"), host.line("git.example"));
    await waitFor("it is tried again", async () => (await signIn("deploy")) === messageKind.signResponse);
  });

  test.each([
    ["locked", "without a passphrase"],
    ["nonsense", "ssh-add did not take the key"],
    ["absent", "the vault is locked"],
  ])("a key that is %s is refused and recorded, and the others work", async (secret, refusal) => {
    set(sshBinding(secret, [git]), sshBinding("deploy", [git]));
    expect(await list()).toEqual([publicKeys.get("deploy")]);
    expect(records).toEqual([
      { binding: secret, destination: undefined, refusal: expect.stringContaining(refusal) as string },
    ]);
    expect(JSON.stringify(records)).not.toContain("PRIVATE KEY");
  });

  test("the box can be told of the servers that its keys are bound to, and of no others", async () => {
    writeFileSync(join(dir, "known_hosts"), other.line("other.example"), { flag: "a" });
    const bindings = [
      sshBinding("deploy", [git, { host: "unknown.example", port: 22 }]),
      sshBinding("second", [git]),
    ];
    expect(await keys.knownHosts(bindings)).toBe(host.line("git.example"));
    expect(await keys.knownHosts([])).toBe("");
    expect(reveals).toBe(0);
  });

  test("a key without a last line break works", async () => {
    set(sshBinding("bare", [git]));
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
  });

  test("two secrets with the same key are none: the limits of one would replace the other's", async () => {
    set(sshBinding("deploy", [git]), sshBinding("twin", [{ ...git, port: 2222 }]));
    expect(await dial().ask(Buffer.from([messageKind.requestIdentities]))).toEqual(failureMessage);
    expect(records.map(({ refusal }) => refusal)).toEqual(
      Array(2).fill(expect.stringContaining("Two secrets of the box are the same key")),
    );
    set(sshBinding("deploy", [git]));
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
  });

  test("an agent that died is started anew by the next connection", async () => {
    set(sshBinding("deploy", [git]));
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
    const [pid] = await agents();
    signalProcess(pid!, "SIGKILL");
    await waitFor("it has ended", async () => !(await agents()).includes(pid!));
    expect(await signIn("deploy")).toBe(messageKind.signResponse);
    expect(await agents()).not.toContain(pid);
  });

  test("a box that is set anew, emptied or dropped loses its agent and its connections at once", async () => {
    for (const end of [() => set(sshBinding("deploy", [git])), () => set(), () => keys.drop("b")]) {
      set(sshBinding("deploy", [git]));
      const program = dial();
      await list(program);
      const [pid] = await agents();
      end();
      expect(program.far.destroyed).toBe(true);
      await waitFor("it has ended", () => !isAlive(pid!));
    }
    const stranger = dial();
    expect(stranger.far.destroyed).toBe(true);
    expect(dial("nobody").far.destroyed).toBe(true);
  });

  test("a box has a few connections at once, and no more", async () => {
    set(sshBinding("deploy", [git]));
    const held = Array.from({ length: 16 }, () => dial());
    expect(held.every(({ far }) => !far.destroyed)).toBe(true);
    expect(dial().far.destroyed).toBe(true);
    await once(held[0]!.far.destroy(), "close");
    expect(await list()).toEqual([publicKeys.get("deploy")]);
  });

  test.each([
    ["without ssh-agent", { below: "", searchPath: "/nowhere" }, "apt install openssh-client"],
    ["with a home that is too deep for a socket", { below: "x".repeat(100) }, "shorter path"],
  ])("a host %s: a record with a hint, and no key is asked for", async (_, { below, ...more }, hint) => {
    await keys[Symbol.asyncDispose]();
    const found: (string | undefined)[] = [];
    keys = await openSshKeys({
      dir: join(dir, "run", below),
      knownHostsFiles: [join(dir, "known_hosts")],
      clock: systemClock,
      logger: silentLogger,
      ...more,
      listener: {
        authorise: async () => true,
        reveal: async () => expect.fail("a key was asked for"),
        signed: (_box, _binding, _place, refusal) => found.push(refusal),
      },
    });
    set(sshBinding("deploy", [git]));
    expect(await dial().ask(Buffer.from([messageKind.requestIdentities]))).toEqual(failureMessage);
    expect(found).toEqual([expect.stringContaining(hint)]);
    await keys[Symbol.asyncDispose]();
    rmSync(join(dir, "run"), { recursive: true, force: true });
  });
});
