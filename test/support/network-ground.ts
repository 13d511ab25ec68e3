/** Shared by the network tests: an internet and a daemon for a file, boxes with a policy, and the audit's records. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { waitFor } from "../../src/base/wait-for.ts";
import type { EgressRecord } from "../../src/contract/network/egress.ts";
import type { NetworkSection } from "../../src/manifest/sections/network-section.ts";
import type { TestDaemon, TestDaemonOptions } from "./daemon.ts";
import { openNetwork, type TestNetwork, whyNoNetwork } from "./network.ts";
import type { ProgramResult } from "./program.ts";

export interface NetworkGround {
  readonly network: TestNetwork;
  readonly daemon: TestDaemon;
}

export interface NetworkGroundOptions extends TestDaemonOptions {
  /** Shared by all cases, once. */
  readonly prepare?: (ground: NetworkGround) => Promise<unknown>;
}

/** Runs the cases with one internet and one daemon for all of them; each case starts with empty logs. */
export function onNetwork(
  title: string,
  cases: (ground: NetworkGround) => void,
  { prepare, ...options }: NetworkGroundOptions = {},
): void {
  describe(title, () => {
    let network: TestNetwork | undefined;
    let daemon: TestDaemon | undefined;
    let missing: string | undefined;
    const ground: NetworkGround = {
      get network() {
        if (network === undefined) throw new Error("There is no network.");
        return network;
      },
      get daemon() {
        if (daemon === undefined) throw new Error("There is no daemon.");
        return daemon;
      },
    };
    beforeAll(async () => {
      missing = await whyNoNetwork();
      if (missing !== undefined) return;
      network = await openNetwork();
      daemon = await network.startDaemon(options);
      await prepare?.(ground);
    });
    beforeEach(async (ctx) => {
      if (missing !== undefined) ctx.skip(missing);
      await network?.forget();
    });
    afterAll(async () => {
      try {
        await daemon?.[Symbol.asyncDispose]();
      } finally {
        await network?.[Symbol.asyncDispose]();
      }
    });
    cases(ground);
  });
}

/** A running box with an empty workspace and this policy. */
export async function boxOn(
  { client }: TestDaemon,
  name: string,
  network: NetworkSection,
  flags: Record<string, unknown> = {},
  projectDir?: string,
): Promise<string> {
  const project = projectDir === undefined ? {} : { projectDir };
  await client.createBox({ name, ...project, flags: { workspace: { mode: "empty" }, network, ...flags } });
  return name;
}

export const run = (
  daemon: TestDaemon,
  box: string,
  argv: readonly string[],
  timeoutMs = 30_000,
): Promise<ProgramResult> => daemon.cli(["exec", box, "--no-stdin", "--", ...argv], { timeoutMs });

export const shell = (
  daemon: TestDaemon,
  box: string,
  script: string,
  timeoutMs?: number,
): Promise<ProgramResult> => run(daemon, box, ["sh", "-c", script], timeoutMs);

/** A JavaScript program in the box that prints one JSON value. */
export async function script<T>(daemon: TestDaemon, box: string, text: string): Promise<T> {
  const { code, stdout, stderr } = await run(daemon, box, ["node", "-e", text]);
  if (code !== 0) throw new Error(`The program in the box ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Takes away what points a program to the proxy, so that it goes the way of programs that know of none. */
export const withoutProxy = [
  "env",
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [
    "-u",
    name,
  ]),
];

/** Decisions about a box so far, the oldest first. */
export const recordsOf = ({ client }: TestDaemon, box: string, host?: string): Promise<EgressRecord[]> =>
  client.listEgress({ box, limit: 1_000, ...omitUndefined({ host }) });

/**
 * The refusals that are recorded while the body runs; waits until there is one at least. Allowed requests are recorded
 * when their connection ends, which may be now, so they do not count.
 */
export async function denialsDuring(
  daemon: TestDaemon,
  box: string,
  body: () => Promise<unknown>,
): Promise<readonly EgressRecord[]> {
  const before = (await recordsOf(daemon, box)).at(-1)?.id ?? 0;
  await body();
  return waitFor("the gate has recorded its refusal", async () => {
    const since = (await recordsOf(daemon, box)).filter(({ id }) => id > before);
    const denials = since.filter(({ verdict }) => verdict === "deny");
    return denials.length > 0 ? denials : undefined;
  });
}

/** A body that must be refused: exactly one record says so, with this reason. */
export async function expectDenied(
  daemon: TestDaemon,
  box: string,
  expected: Partial<EgressRecord>,
  body: () => Promise<unknown>,
): Promise<void> {
  const records = await denialsDuring(daemon, box, body);
  expect(records).toEqual([expect.objectContaining({ verdict: "deny", ...expected })]);
}

/** A person's yes to what the manifest of a project asks for. */
export async function agree({ client }: TestDaemon, projectDir: string): Promise<void> {
  const file = join(projectDir, "agentbox.toml");
  const project = { projectDir, manifest: { file, text: readFileSync(file, "utf8") } };
  const { digest } = await client.askTrust(project);
  await client.grantTrust({ ...project, digest });
}
