/** Shared by the tests of ssh keys: servers that let one key in, this host's knowledge of them, and boxes that ask. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, afterAll, expect } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { EgressRecord } from "../../src/contract/network/egress.ts";
import { listPids, readCmdline } from "../../src/host/processes.ts";
import type { TestDaemon } from "./daemon.ts";
import { type SshServer, startSshServer, whyNoSshServer } from "./internet-servers.ts";
import { makeGitSite } from "./internet-sites.ts";
import { addresses } from "./network.ts";
import { agree, type NetworkGround, onNetwork, recordsOf } from "./network-ground.ts";
import { giveTo } from "./review.ts";

export interface SshGround extends NetworkGround {
  /** At ssh.test, and at other.test; both let the same key in. */
  readonly server: SshServer;
  readonly other: SshServer;
  /** A repository that both give out. */
  readonly repository: string;
  /** The key's file on the host, and the secret `deploy` in the vault. */
  readonly keyFile: string;
}

/** With `command`, sessions at ssh.test run that instead of git. */
export function onSsh(title: string, cases: (ground: SshGround) => void, command?: string): void {
  onNetwork(title, (network) => {
    const missing = whyNoSshServer();
    let server: SshServer | undefined;
    let other: SshServer | undefined;
    let repository = "";
    let keyFile = "";
    const there = <T>(thing: T | undefined): T => thing ?? expect.fail("There is no ssh server.");
    const ground: SshGround = {
      get network() {
        return network.network;
      },
      get daemon() {
        return network.daemon;
      },
      get server() {
        return there(server);
      },
      get other() {
        return there(other);
      },
      get repository() {
        return repository;
      },
      get keyFile() {
        return keyFile;
      },
    };
    beforeAll(async () => {
      if (missing !== undefined || process.getuid?.() !== 0) return;
      const { daemon } = network;
      repository = await makeGitSite(network.network.directory);
      server = await startSshServer(network.network, command === undefined ? {} : { command });
      const { publicKey } = server;
      const second = { name: "ssh-other", address: addresses.web2, letsIn: publicKey };
      other = await startSshServer(network.network, second);
      mkdirSync(join(daemon.scratch, ".ssh"), { mode: 0o700 });
      const known = `ssh.test ${server.hostKey}\nother.test ${other.hostKey}\n`;
      writeFileSync(join(daemon.scratch, ".ssh/known_hosts"), known);
      keyFile = join(daemon.scratch, "deploy-key");
      writeFileSync(keyFile, server.key, { mode: 0o600 });
      for (const path of [".ssh", "deploy-key"]) await giveTo(daemon, join(daemon.scratch, path));
      const kept = await daemon.cli(["vault", "set", "deploy", "--kind", "ssh-key", "--from-file", keyFile]);
      expect(kept.code, kept.stderr).toBe(0);
    }, 60_000);
    beforeEach((ctx) => {
      if (missing !== undefined) ctx.skip(missing);
    });
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]();
      await other?.[Symbol.asyncDispose]();
    });
    cases(ground);
  });
}

/** A running box of a project that asks for the key at these servers, and may reach both. */
export async function boxWithKey(
  { daemon }: SshGround,
  name: string,
  hosts: readonly string[],
  more = "",
): Promise<string> {
  const project = mkdtempSync(join(daemon.scratch, "keyed-"));
  const manifest = [
    "version = 1",
    "[network]",
    'allow = ["ssh.test:22", "other.test:22"]',
    "[secrets.deploy]",
    'how = "ssh"',
    `hosts = ${JSON.stringify(hosts)}`,
    more,
    "",
  ];
  writeFileSync(join(project, "agentbox.toml"), manifest.join("\n"));
  await giveTo(daemon, project);
  await agree(daemon, project);
  const made = await daemon.cli(["create", "shell", "--name", name, "--start"], { cwd: project });
  expect(made.code, made.stderr).toBe(0);
  return name;
}

export async function grantKey({ daemon }: SshGround, box: string): Promise<void> {
  const granted = await daemon.cli(["vault", "grant", "deploy", "--box", box]);
  expect(granted.code, granted.stderr).toBe(0);
}

/** Clones over ssh and shows a file of it. */
export const cloneFrom = ({ repository }: SshGround, host: string, options = ""): string =>
  `cd $(mktemp -d) && GIT_SSH_COMMAND="ssh -o BatchMode=yes ${options}" git clone -q ssh://root@${host}${repository} here && cat here/hello`;

/** The ssh-agent processes of a daemon. */
export async function agentsOf({ home }: TestDaemon): Promise<readonly number[]> {
  const pids = await listPids();
  const lines = await Promise.all(pids.map(async (pid) => ({ pid, argv: await readCmdline(pid) })));
  return lines
    .filter(({ argv }) => argv[0] === "ssh-agent" && argv.some((part) => part.startsWith(`${home}/`)))
    .map(({ pid }) => pid);
}

/** The decisions about signatures of a box so far; waits until there are so many. */
export const signaturesOf = (
  { daemon }: SshGround,
  box: string,
  count: number,
): Promise<readonly EgressRecord[]> =>
  waitFor(`there are ${count} decisions about signatures`, async () => {
    const records = (await recordsOf(daemon, box)).filter(({ via }) => via === "ssh-agent");
    return records.length >= count ? records : undefined;
  });
