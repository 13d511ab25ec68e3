/** `doctor --fix`: gVisor is registered with the engine after a yes, and nothing else of its configuration is touched. */
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { DoctorReport } from "../../src/contract/api/schemas/daemon.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { gvisorUnavailable } from "../support/engines.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { type OwnEngine, startOwnDocker } from "../support/own-engine.ts";
import { describeUnless } from "../support/skipping.ts";

const why = gvisorUnavailable();
const config = { labels: ["team=shop"], "max-concurrent-downloads": 2 };
const text = JSON.stringify(config);

describeUnless(why)("doctor --fix", () => {
  let engine: OwnEngine;
  let daemon: TestDaemon;
  const backup = () => `${engine.configFile}.before-agentbox`;
  const read = () => readFileSync(engine.configFile, "utf8");
  const fix = (...args: string[]) =>
    daemon.cli(["doctor", "--fix", "--json", ...args], { timeoutMs: 55_000 });
  const codeOf = (stderr: string) => /"code":\s*"([^"]+)"/.exec(stderr)?.[1];

  beforeAll(async () => {
    engine = await startOwnDocker("fixed", { config });
    daemon = await startDaemon({ env: { AGENTBOX_ENGINE: `unix://${engine.socket}` } });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());
  beforeEach(() => {
    writeFileSync(engine.configFile, text);
    chmodSync(engine.configFile, 0o640);
    rmSync(backup(), { force: true });
  });

  it("changes nothing without a yes", async () => {
    const refused = await fix();
    expect(refused.code).toBe(2);
    expect(codeOf(refused.stderr)).toBe("input.invalid");
    expect(refused.stderr).toContain("--fix --yes");
    expect(read()).toBe(text);
    expect(existsSync(backup())).toBe(false);
  });

  it.each([
    ["no JSON", "{ labels: "],
    ["a list", "[]"],
    ["runtimes of another kind", '{"runtimes": ["runsc"]}'],
  ])("leaves a file as it is that it does not understand: %s", async (_, broken) => {
    writeFileSync(engine.configFile, broken);
    const refused = await fix("--yes");
    expect(codeOf(refused.stderr)).toBe("file.failed");
    expect(refused.stderr).toContain(engine.configFile);
    expect(read()).toBe(broken);
    expect(existsSync(backup())).toBe(false);
  });

  it("does not overwrite a runsc that somebody registered for themselves", async () => {
    const own = JSON.stringify({
      runtimes: { runsc: { path: "/opt/runsc", runtimeArgs: ["--network=host"] } },
    });
    writeFileSync(engine.configFile, own);
    const refused = await fix("--yes");
    expect(codeOf(refused.stderr)).toBe("file.exists");
    expect(refused.stderr).toContain("--host-uds=open");
    expect(read()).toBe(own);
  });

  it("is not for an ordinary user, who may neither read nor write it", async (ctx) => {
    if (!isRoot) ctx.skip("needs root to be another user");
    // The socket is opened to this user, and the configuration is not.
    chmodSync(engine.socket, 0o666);
    chmodSync(engine.configFile, 0o600);
    try {
      await using own = await startDaemon({
        user: ordinaryUser,
        env: { AGENTBOX_ENGINE: `unix://${engine.socket}` },
      });
      const refused = await own.cli(["doctor", "--fix", "--yes", "--json"], { timeoutMs: 55_000 });
      expect(refused.code).not.toBe(0);
      expect(read()).toBe(text);
    } finally {
      chmodSync(engine.socket, 0o660);
    }
  });

  it("adds the runtime, keeps the rest and the file before, has the engine read it, and boxes run", async () => {
    const before = await daemon.json<DoctorReport>(["doctor"], { timeoutMs: 55_000 });
    expect(before.runtimes.find(({ name }) => name === "gvisor")).toMatchObject({
      status: "absent",
      fix: { hint: expect.stringContaining("agentbox doctor --fix") },
    });
    const fixed = await fix("--yes");
    expect(fixed.code, fixed.stderr).toBe(0);
    const { runtimes } = JSON.parse(fixed.stdout) as DoctorReport;
    expect(runtimes.find(({ name }) => name === "gvisor")).toMatchObject({ status: "ready" });
    expect(JSON.parse(read())).toEqual({
      ...config,
      runtimes: {
        runsc: { path: expect.stringMatching(/runsc$/), runtimeArgs: ["--network=none", "--host-uds=open"] },
      },
    });
    expect(statSync(engine.configFile).mode & 0o777).toBe(0o640);
    expect(readFileSync(backup(), "utf8")).toBe(text);
    const ran = await daemon.cli(["run", "shell", "--runtime", "gvisor", "--", "echo", "inside"], {
      timeoutMs: 55_000,
    });
    expect(ran.stdout, ran.stderr).toBe("inside\n");
    // Once more finds nothing to do.
    const again = await fix("--yes");
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain("nothing to fix");
  }, 180_000);
});
