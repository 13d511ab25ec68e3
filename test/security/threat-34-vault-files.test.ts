/**
 * Threat 34: the vault's files, and those of its keys, in the hands of another user of the host. Everything below AGENTBOX_HOME
 * that has to do with secrets is its owner's alone, after every way of writing it.
 */
import { lstatSync, mkdtempSync, readdirSync, type Stats, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { searchDisk } from "../support/canary-search.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { asUserArgv, hasProgram, isRoot, ordinaryUser } from "../support/host-facts.ts";
import { agree } from "../support/network-ground.ts";
import { runProgram } from "../support/program.ts";
import { makeCanary, mustCli, setSecret } from "../support/vault-ground.ts";
import { chownTree, type Ground, nodeInBox, onEachDaemon, shellInBox } from "./attack.ts";

const stranger = { uid: 54_321, gid: 54_321 };
const canary = makeCanary();
const rotated = makeCanary();
const passphrase = "a passphrase of the test";

interface Found {
  readonly path: string;
  readonly stat: Stats;
}

const below = (directory: string): Found[] => [
  { path: directory, stat: lstatSync(directory) },
  ...readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => ({
    path: join(directory, name),
    stat: lstatSync(join(directory, name)),
  })),
];

/** Everything of the vault that is written: values, versions, another master key, a sealed copy, a value that a box holds. */
async function makeVault(daemon: TestDaemon): Promise<void> {
  await setSecret(daemon, "token", canary);
  await mustCli(daemon, ["vault", "rotate", "token", "--grace", "1h"], { stdin: rotated });
  await mustCli(daemon, ["vault", "export", join(daemon.scratch, "backup.sealed")], { stdin: passphrase });
  const project = mkdtempSync(join(daemon.scratch, "held-"));
  const manifest = 'version = 1\n[secrets.token]\nhow = "file"\nfile = "/run/secrets/token"\n';
  writeFileSync(join(project, "agentbox.toml"), manifest);
  if (isRoot) chownTree(project, lstatSync(daemon.scratch));
  await agree(daemon, project);
  await mustCli(daemon, ["create", "shell", "--name", "holding"], { cwd: project });
  await mustCli(daemon, ["vault", "grant", "token", "--box", "holding"]);
  await daemon.client.startBox("holding");
}

/** As statfs(2) knows it. */
const tmpfs = 0x01_02_19_94;

const cases = (ground: Ground): void => {
  const daemonUser = () => (ground.isRootDaemon || !isRoot ? process.getuid!() : ordinaryUser.uid);
  const files = (): Found[] => {
    const { home } = ground.daemon;
    const names = readdirSync(home).filter((name) => /^(vault|ssh)/.test(name));
    return names.flatMap((name) => below(join(home, name)));
  };
  const expectOwn = (): void => {
    const found = files();
    // The control: there is something to look at, and it was written.
    expect(found.filter(({ stat }) => stat.isFile() && stat.size > 0).length).toBeGreaterThan(1);
    for (const { path, stat } of found) {
      const mode = (stat.mode & 0o7777).toString(8);
      expect({ path, mode, uid: stat.uid }).toEqual({
        path,
        mode: stat.isDirectory() ? "700" : "600",
        uid: daemonUser(),
      });
      expect(stat.isSymbolicLink(), path).toBe(false);
    }
  };

  it("are their owner's alone, with each kind of master key", async () => {
    const { daemon } = ground;
    expectOwn();
    await mustCli(daemon, ["vault", "rekey", "--to", "passphrase"], { stdin: passphrase });
    expectOwn();
    await mustCli(daemon, ["vault", "lock"]);
    await mustCli(daemon, ["vault", "unlock"], { stdin: passphrase });
    await mustCli(daemon, ["vault", "rekey", "--to", "keyfile"]);
    expectOwn();
    expect(lstatSync(join(daemon.scratch, "backup.sealed")).mode & 0o777).toBe(0o600);
  });

  it("show a stranger nothing, not even their names, and a box neither", async (ctx) => {
    if (!isRoot) ctx.skip("only root can become another user");
    if (!hasProgram("setpriv")) ctx.skip("setpriv is not installed");
    const { daemon } = ground;
    const paths = files()
      .filter(({ stat }) => stat.isFile())
      .map(({ path }) => path);
    paths.push(join(daemon.scratch, "backup.sealed"));
    const read = 'for f in "$@"; do head -c 1 "$f" > /dev/null 2>&1 && echo "$f"; done; true';
    const owner = ground.isRootDaemon ? [] : asUserArgv(ordinaryUser);
    const as = (prefix: readonly string[], argv: readonly string[]) => runProgram([...prefix, ...argv]);
    const all = await as(owner, ["sh", "-c", read, "sh", ...paths]);
    expect(all.stdout.trim().split("\n")).toEqual(paths);
    const strangers = [asUserArgv(stranger)];
    if (ground.isRootDaemon) strangers.push(asUserArgv((await daemon.client.getBox("holding")).box.owner));
    for (const prefix of strangers) {
      expect((await as(prefix, ["sh", "-c", read, "sh", ...paths])).stdout).toBe("");
      expect((await as(prefix, ["ls", join(daemon.home, "vault")])).code).not.toBe(0);
    }
    const inside = await shellInBox(
      daemon,
      "holding",
      `find ${daemon.home}/vault 2>&1; find /run/agentbox 2>&1`,
    );
    expect(inside.stdout).toMatch(/vault.*: No such file/);
    expect(inside.stdout).not.toMatch(/master|vault\.json|key$/m);
  });

  it("have no value in them that can be read, of this version or the one before", () => {
    const { daemon } = ground;
    expect(searchDisk(daemon.home, canary, rotated).found).toEqual([]);
    expect(searchDisk(daemon.scratch, canary, rotated).found).toEqual([]);
    // The control: the search reads these files, and the name of a secret is there to be found.
    expect(searchDisk(join(daemon.home, "vault"), '"token"').found).not.toEqual([]);
  });

  it("are of the box alone where it holds the value: another box of the daemon sees its own", async () => {
    const { daemon } = ground;
    const held = await nodeInBox<{ mode: number; isOwn: boolean; type: number }>(
      daemon,
      "holding",
      `const fs = require("node:fs"), { mode, uid } = fs.statSync("/run/secrets/token");
       console.log(JSON.stringify({ mode: mode & 0o7777, isOwn: uid === process.getuid(), type: fs.statfsSync("/run/secrets").type }));`,
    );
    expect(held).toEqual({ mode: 0o600, isOwn: true, type: tmpfs });
    await daemon.client.createBox({ name: "beside", flags: { workspace: { mode: "empty" } } });
    const beside = await shellInBox(
      daemon,
      "beside",
      "find /run/secrets -mindepth 1 2>/dev/null; cat /run/secrets/token 2>&1",
    );
    expect(beside.stdout).not.toContain(rotated);
    expect(beside.stdout).toMatch(/No such file/);
  });
};

onEachDaemon("files of the vault", cases, { prepare: makeVault });
