/**
 * Shared by the tests of the vault: an internet whose servers want a credential, a canary for it, and boxes that ask.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { waitFor } from "../../src/base/wait-for.ts";
import type { EgressRecord } from "../../src/contract/network/egress.ts";
import type { TestDaemon } from "./daemon.ts";
import { agree, type NetworkGround, onNetwork, recordsOf } from "./network-ground.ts";
import type { ProgramResult } from "./program.ts";
import { giveTo } from "./review.ts";

/** A value that no test writes down, with signs that look different in a URL. */
export const makeCanary = (): string =>
  `canary/${randomBytes(12).toString("hex")}+${randomBytes(4).toString("hex")}~`;

export interface VaultGround extends NetworkGround {
  /** The value of the secret `token`; the servers take no other. */
  readonly canary: string;
  /** The value of the secret `storage`. */
  readonly aws: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface VaultOptions {
  /** Shared by all cases, once. */
  readonly prepare?: (ground: VaultGround) => Promise<unknown>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the cases with one internet, one daemon and the two secrets in its vault. */
export function onVault(
  title: string,
  cases: (ground: VaultGround) => void,
  { prepare, env }: VaultOptions = {},
): void {
  const canary = makeCanary();
  const aws = {
    accessKeyId: `AKIA${randomBytes(8).toString("hex").toUpperCase()}`,
    secretAccessKey: makeCanary(),
  };
  const extend = (ground: NetworkGround): VaultGround => ({
    canary,
    aws,
    get network() {
      return ground.network;
    },
    get daemon() {
      return ground.daemon;
    },
  });
  onNetwork(title, (ground) => cases(extend(ground)), {
    ...omitUndefined({ env }),
    async prepare(ground) {
      await ground.network.setCredentials({ token: canary, aws });
      await setSecret(ground.daemon, "token", canary);
      await setSecret(ground.daemon, "storage", JSON.stringify(aws), "--kind", "aws");
      await prepare?.(extend(ground));
    },
  });
}

/** As a person pipes it in: never an argument. */
export async function setSecret(
  daemon: TestDaemon,
  name: string,
  value: string,
  ...flags: string[]
): Promise<void> {
  await mustCli(daemon, ["vault", "set", name, ...flags], { stdin: value });
}

export async function mustCli(
  daemon: TestDaemon,
  args: readonly string[],
  options: Parameters<TestDaemon["cli"]>[1] = {},
): Promise<ProgramResult> {
  const result = await daemon.cli(args, options);
  expect(result.code, `agentbox ${args.join(" ")}: ${result.stdout}${result.stderr}`).toBe(0);
  return result;
}

/** A running box of a project with this manifest, to which a person said yes; the secrets are another question. */
export async function boxOf(daemon: TestDaemon, name: string, manifest: string): Promise<string> {
  const project = mkdtempSync(join(daemon.scratch, `${name}-`));
  writeFileSync(join(project, "agentbox.toml"), `version = 1\n${manifest}`);
  await giveTo(daemon, project);
  await agree(daemon, project);
  await mustCli(daemon, ["create", "shell", "--name", name, "--start"], { cwd: project });
  return name;
}

export const grant = (daemon: TestDaemon, secret: string, box: string): Promise<ProgramResult> =>
  mustCli(daemon, ["vault", "grant", secret, "--box", box]);

export const revoke = (daemon: TestDaemon, secret: string, box: string): Promise<ProgramResult> =>
  mustCli(daemon, ["vault", "revoke", secret, "--box", box]);

/** The same, with the secret `token` granted. */
export async function grantedBox(daemon: TestDaemon, name: string, manifest: string): Promise<string> {
  await boxOf(daemon, name, manifest);
  await grant(daemon, "token", name);
  return name;
}

/** One entry of a manifest for the secret `token`. */
export const entry = (name: string, host: string, lines: string): string =>
  `[secrets.${name}]\nfrom = "vault:token"\nhosts = ["${host}"]\n${lines}\n`;

export const mirrorEntry = entry("mirror", "mirror.test", 'how = "bearer"\nenv = "MIRROR_TOKEN"');

/** The records about secrets of a box so far; waits until there are so many. */
export const receiptsOf = (
  daemon: TestDaemon,
  box: string,
  count: number,
  host?: string,
): Promise<readonly EgressRecord[]> =>
  waitFor(`there are ${count} receipts of ${box}`, async () => {
    const records = (await recordsOf(daemon, box, host)).filter(({ secret }) => secret !== undefined);
    return records.length >= count ? records : undefined;
  });

/** Requests that reached a host, with all that they carried. */
export async function requestsTo({ network }: NetworkGround, host: string) {
  return (await network.arrivals()).flatMap((one) => (one.kind === "http" && one.host === host ? [one] : []));
}

/** A person who says no to every question of a box about a secret, until disposed. */
export function sayNo({ client }: TestDaemon, box: string): AsyncDisposable {
  let isOver = false;
  const answering = waitFor(
    "the person is no longer needed",
    async () => {
      for (const asked of await client.listApprovals())
        if (asked.box === box && asked.secret !== undefined)
          // The client may have gone.
          await client.answerApproval(asked.id, { answer: "deny" }).catch(() => undefined);
      return isOver;
    },
    60_000,
  );
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await answering;
    },
  };
}
