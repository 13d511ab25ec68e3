import { lstatSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Core } from "../src/core/context.ts";
import { execInBox } from "../src/core/exec/exec-in-box.ts";
import { askTrust } from "../src/core/trust/grant-trust.ts";
import { reconcile } from "../src/core/box/reconcile.ts";
import { restartBox } from "../src/core/box/restart-box.ts";
import { withLink } from "../src/core/review/quiet-box.ts";
import { summarise } from "../src/core/review/summarise.ts";
import { getLink } from "../src/core/exec/run-in-box.ts";
import { addSecret, grantSecret } from "../src/core/secrets/keep-secrets.ts";
import { startBox } from "../src/core/boot/start-box.ts";
import { stopBox } from "../src/core/box/stop-box.ts";
import type { Vault } from "../src/ports/vault.ts";
import { type TestHost, createOn, openTestCore, openTestHost } from "./support/core.ts";
import { memoryVault } from "./support/secrets.ts";

const canary = "canary-held-5b1d";
const text = 'version = 1\n[secrets.npm]\nhow = "env"\nenv = "NPM_TOKEN"\n';

let host: TestHost;
let core: Core & AsyncDisposable;
let vault: Vault;
const open = async (): Promise<void> => {
  core = await openTestCore(host, { vault });
  await reconcile(core);
};
beforeEach(async () => {
  host = await openTestHost();
  vault = memoryVault();
  await open();
  const source = { kind: "stored" } as const;
  await addSecret(core, { name: "npm", kind: "text", source, value: Buffer.from(canary).toString("base64") });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const project = () => ({ projectDir: host.dir, manifest: { file: "agentbox.toml", text } });
const make = async (name: string, start = true) => {
  const { digest } = await askTrust(core, project());
  return createOn(core, { name, start, trust: digest, ...project() });
};
const agree = () => grantSecret(core, { name: "npm", scope: "project", ...project() });
const printenv = async (name: string) =>
  execInBox((await getLink(core, name)).link, { argv: ["printenv", "NPM_TOKEN"], timeoutMs: 5_000 });

/** Every plain file below a directory. */
const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((path) => lstatSync(path).isFile());

describe("a secret that the box holds itself", () => {
  it("is there when a person has agreed, and otherwise the box does not start", async () => {
    await expect(make("early")).rejects.toMatchObject({
      code: "secret.not_granted",
      hint: expect.stringContaining("agentbox vault grant npm"),
    });
    expect(await core.getBox("early")).toMatchObject({ state: { phase: "failed" } });
    await agree();
    await make("later");
    expect((await printenv("later")).output).toBe(`${canary}\n`);
    await startBox(core, "early");
    expect((await printenv("early")).output).toBe(`${canary}\n`);
  });

  it("is not given twice to a boot that was sealed when its daemon was killed", async () => {
    await agree();
    await make("a-box");
    // As the daemon leaves it when it is killed after the seal and before the record.
    const box = await core.getBox("a-box");
    await core.commit({ update: { ...box, state: { phase: "starting", sinceMs: 1 } }, events: [] });
    await core[Symbol.asyncDispose]();
    await open();
    expect((await core.getBox("a-box")).state.phase).toBe("running");
    expect((await printenv("a-box")).output).toBe(`${canary}\n`);
    const used = await host.store.listEvents({ limit: 100, type: "secret.used" });
    expect(used).toHaveLength(1);
  });

  it("is on no disk of the host, in no event and in no record", async () => {
    await agree();
    await make("a-box");
    expect((await printenv("a-box")).output).toContain(canary);
    const files = filesBelow(host.dir);
    expect(files.some((path) => path.endsWith("box.json"))).toBe(true);
    expect(files.filter((path) => readFileSync(path).includes(canary))).toEqual([]);
    const events = await host.store.listEvents({ limit: 1_000 });
    expect(events.map(({ type }) => type)).toContain("secret.used");
    expect(JSON.stringify([events, await host.store.listBoxes()])).not.toContain(canary);
  });

  it("is not sent again to a box that goes on, and is to one that starts again", async () => {
    await agree();
    await make("a-box");
    await core[Symbol.asyncDispose]();
    const reveal = vi.spyOn(vault, "reveal");
    await open();
    expect((await printenv("a-box")).output).toBe(`${canary}\n`);
    expect(reveal).not.toHaveBeenCalled();
    await restartBox(core, "a-box");
    expect(reveal).toHaveBeenCalledWith("npm");
    expect((await printenv("a-box")).output).toBe(`${canary}\n`);
  });

  it("is not handed out for the host itself in a stopped box", async () => {
    await agree();
    await make("a-box");
    await stopBox(core, "a-box", {});
    const reveal = vi.spyOn(vault, "reveal");
    const { code } = await withLink(core, "a-box", (_, link) =>
      execInBox(link, { argv: ["printenv", "NPM_TOKEN"], timeoutMs: 5_000 }),
    );
    expect(code).toBe(1);
    expect(reveal).not.toHaveBeenCalled();
  });

  it("that is larger than a box can hold is refused", async () => {
    const value = Buffer.alloc(64 * 1024, "x").toString("base64");
    const secrets = Object.fromEntries(
      await Promise.all(
        Array.from({ length: 9 }, async (_, i) => {
          await addSecret(core, { name: `big-${i}`, kind: "text", source: { kind: "stored" }, value });
          return [`big-${i}`, { how: "env", env: `BIG_${i}` }];
        }),
      ),
    );
    await createOn(core, { name: "a-box", start: false, flags: { secrets } });
    for (const name of Object.keys(secrets)) await grantSecret(core, { name, scope: "box", box: "a-box" });
    await expect(startBox(core, "a-box")).rejects.toMatchObject({ code: "secret.invalid" });
  });
});

it("a review says which secrets were used, how often, and which the box holds", async () => {
  const { box } = await createOn(core, {
    name: "a-box",
    start: false,
    flags: {
      secrets: {
        github: { service: "github" },
        gitlab: { service: "gitlab" },
        npm: { how: "env", env: "T" },
      },
    },
  });
  expect(box.spec.secrets.map(({ name, isOrdered }) => [name, isOrdered])).toEqual([
    ["github", true],
    ["gitlab", true],
    ["npm", true],
  ]);
  const record = (secret: string | undefined, more: object = {}) => ({
    atMs: 0,
    box: "a-box",
    incarnation: box.incarnation,
    via: "tcp" as const,
    host: "api.github.com",
    port: 443,
    verdict: "allow" as const,
    bytesOut: 0,
    bytesIn: 0,
    ...(secret === undefined ? {} : { secret, isInjected: true }),
    ...more,
  });
  await host.store.recordEgress([
    record("github"),
    record("github"),
    record("gitlab", { isInjected: false, verdict: "deny" }),
    record("github", { incarnation: "an older box" }),
    record(undefined),
  ]);
  expect((await summarise(core, box)).secrets).toEqual([
    { name: "github", uses: 2, isHeld: false },
    { name: "gitlab", uses: 0, isHeld: false },
    { name: "npm", uses: 0, isHeld: true },
  ]);
});
