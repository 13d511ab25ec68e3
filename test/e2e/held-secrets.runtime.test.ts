/** Secrets that a box holds itself: asked for by name, agreed to, in its memory only, and not in the boxes of checks. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckResult } from "../../src/contract/review/check.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { disksOf } from "../support/test-runtime.ts";
import { codeOf, makeProject, reviewOf, runIn } from "../support/review.ts";

const canary = "canary-held-93d1e0";
const digest = createHash("sha256").update(canary).digest("hex");
/** Says whether the value is there without repeating it, so that nothing but the secret itself can be found. */
const sum = "printf %s \"$(cat)\" | sha256sum | cut -d' ' -f1";

const manifest = `version = 1
[secrets.npm]
how = "env"
env = "NPM_TOKEN"
[secrets.key]
from = "vault:npm"
how = "file"
file = "/run/secrets/key"
[secrets.api]
from = "vault:npm"
how = "bearer"
hosts = ["api.example.org"]
env = "API_TOKEN"
[services.early]
command = "printf %s \\"$NPM_TOKEN\\" | ${sum.replaceAll('"', '\\"')} > ~/early; sleep 1000"
[[check]]
name = "without"
command = "env | grep TOKEN; find /run/secrets; test -z \\"$NPM_TOKEN$API_TOKEN\\" && test -z \\"$(find /run/secrets -mindepth 1)\\""
`;

describe("secrets that a box holds", () => {
  let daemon: TestDaemon;
  let dir: string;
  beforeAll(async () => {
    daemon = await startDaemon();
    const project = await makeProject(daemon, { "README.md": "# Shop\n", "agentbox.toml": manifest });
    dir = project.dir;
    const value = Buffer.from(canary).toString("base64");
    await daemon.client.addSecret({ name: "npm", kind: "text", source: { kind: "stored" }, value });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const trusted = async (...args: string[]) => {
    const asked = await daemon.cli(["create", "--json", ...args], { cwd: dir });
    expect(codeOf(asked)).toBe("trust.required");
    const found = /sha256:[0-9a-f]{64}/.exec(asked.stderr + asked.stdout)![0];
    return daemon.cli(["create", "--json", "--trust", found, ...args], { cwd: dir });
  };
  const sumOf = async (from: string): Promise<string> =>
    (await runIn(daemon, "holder", `${from} | ${sum}`)).stdout.trim();

  it("are there for programs and services once a person has agreed, and the box does not start before", async () => {
    const refused = await trusted("--name", "holder", "--start");
    expect({ code: refused.code, said: codeOf(refused) }).toEqual({ code: 5, said: "secret.not_granted" });
    const granted = await daemon.cli(["vault", "grant", "npm", "--project", "."], { cwd: dir });
    expect(granted.code, granted.stderr).toBe(0);
    await daemon.client.startBox("holder");
    expect(await sumOf('printf %s "$NPM_TOKEN"')).toBe(digest);
    expect(await sumOf("cat /run/secrets/key")).toBe(digest);
    expect((await runIn(daemon, "holder", "cat ~/early")).stdout.trim()).toBe(digest);
    expect((await runIn(daemon, "holder", "find /run/secrets -printf '%m\\n'")).stdout).toBe("700\n600\n");
  });

  it("are on no disk of the host", async () => {
    const disks = await disksOf(daemon.home);
    const find = (text: string) => spawnSync("grep", ["-rlsF", text, ...disks], { encoding: "utf8" }).stdout;
    // The control: what is written into the home is found there.
    expect(find(digest)).toContain("early");
    expect(find(canary)).toBe("");
  });

  it("are flagged wherever the box is shown", async () => {
    const { stdout } = await daemon.cli(["inspect", "holder"]);
    expect(stdout).toMatch(/npm\s+held by the box\s+NPM_TOKEN/);
    expect((await reviewOf(daemon, "holder")).summary.secrets).toEqual([
      { name: "npm", uses: 0, isHeld: true },
    ]);
    const stat = await daemon.cli(["diff", "holder", "--stat"]);
    expect(stat.stdout).toMatch(/secrets used\s+held by the box: npm/);
  });

  it("are not in the fresh box of a check, nor are the placeholders of others", async () => {
    // The control: the agent's own box has all of them.
    const own =
      'test -n "$NPM_TOKEN" && test -n "$API_TOKEN" && test -n "$(find /run/secrets -mindepth 1)" && echo x > feature.txt';
    expect((await runIn(daemon, "holder", own)).code).toBe(0);
    const result = await daemon.cli(["check", "holder", "--json"]);
    const { checks } = JSON.parse(result.stdout) as { checks: CheckResult[] };
    expect(checks).toMatchObject([{ name: "without", status: "passed" }]);
  });

  it("are sent again to a box that starts again, and a running one keeps them when the daemon is another", async () => {
    await daemon.client.restartBox("holder");
    expect(await sumOf('printf %s "$NPM_TOKEN"')).toBe(digest);
    await daemon.kill();
    await daemon.start();
    expect(await sumOf("cat /run/secrets/key")).toBe(digest);
    const revoked = await daemon.cli(["vault", "revoke", "npm"], { cwd: dir });
    expect(revoked.code, revoked.stderr).toBe(0);
    await expect(daemon.client.restartBox("holder")).rejects.toMatchObject({ code: "secret.not_granted" });
  });
});
