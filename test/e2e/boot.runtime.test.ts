import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";

describe("a boot", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const typesOf = async (box: string) =>
    (await daemon.client.listEvents({ box, limit: 200 })).events.map(({ type }) => type);
  const phaseOf = async (name: string) => (await daemon.client.getBox(name)).box.state.phase;

  it("is sealed once, when every service runs, and before the box counts as started", async () => {
    const flags = {
      services: { slow: { command: "sleep 0.2; echo up; exec sleep 600", ready: { log: "up" } } },
    };
    await daemon.client.createBox({ name: "sealed-box", flags });
    const types = await typesOf("sealed-box");
    expect(types.filter((type) => type === "boot.started")).toHaveLength(1);
    expect(types.filter((type) => type === "boot.sealed")).toHaveLength(1);
    const order = ["boot.started", "boot.sealed", "box.started"].map((type) => types.indexOf(type as never));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const { events } = await daemon.client.listEvents({ box: "sealed-box", limit: 200 });
    const ready = events.findIndex(
      ({ type, data }) => type === "service.changed" && data["state"] === "ready",
    );
    expect(ready).toBeGreaterThan(-1);
    expect(ready).toBeLessThan(order[1]!);

    await daemon.client.restartBox("sealed-box");
    expect((await typesOf("sealed-box")).filter((type) => type === "boot.sealed")).toHaveLength(2);
    await daemon.client.removeBox("sealed-box", { force: true });
  });

  it("fails with the whole list when something promised is not there, and nothing has run", async () => {
    const project = join(daemon.scratch, "unkept");
    mkdirSync(project, { mode: 0o755 });
    const manifest = (command: string) =>
      `version = 1\n[services.mark]\ncommand = "echo ran > /workspace/ran; exec sleep 600"\n` +
      `[services.database]\ncommand = ["${command}"]\n[services.second]\ncommand = ["/usr/bin/${command}", "5"]\n`;
    const create = (name: string) =>
      daemon.cli(["create", "--start", "--json", "--name", name], { cwd: project });

    writeFileSync(join(project, "agentbox.toml"), manifest("no-such-database"), { mode: 0o644 });
    const refused = await create("unkept-box");
    expect(refused.code).toBe(6);
    const error = JSON.parse(refused.stderr) as {
      code: string;
      facts: { artifacts: { path: string; what: string }[] };
    };
    expect(error.code).toBe("boot.artifact_missing");
    expect(error.facts.artifacts).toEqual([
      { what: "the service database", path: "no-such-database" },
      { what: "the service second", path: "/usr/bin/no-such-database" },
    ]);
    expect(await phaseOf("unkept-box")).toBe("failed");
    const types = await typesOf("unkept-box");
    expect(types).toContain("artifact.missing");
    expect(types).not.toContain("boot.sealed");
    expect(types).not.toContain("service.changed");

    // The control: the same with a program that is there, in the same box.
    writeFileSync(
      join(project, "agentbox.toml"),
      manifest("sleep").replace('["sleep"]', '["sleep", "600"]'),
      { mode: 0o644 },
    );
    expect((await create("kept-box")).code).toBe(0);
    expect((await daemon.cli(["exec", "kept-box", "--", "cat", "/workspace/ran"])).stdout).toBe("ran\n");
    await daemon.client.removeBox("kept-box", { force: true });
    await daemon.client.removeBox("unkept-box", { force: true });
  });

  it("fails when a required service does not come up, and goes on without one that is not required", async () => {
    const broken = { command: "exit 3", restart: "no", ready: { port: 4321 } };
    await expect(
      daemon.client.createBox({ name: "needy-box", flags: { services: { broken } } }),
    ).rejects.toMatchObject({
      code: "box.start_failed",
      message: expect.stringContaining("broken: It ended with 3"),
    });
    expect(await typesOf("needy-box")).not.toContain("boot.sealed");
    await daemon.client.removeBox("needy-box", { force: true });

    await daemon.client.createBox({
      name: "easy-box",
      flags: { services: { broken: { ...broken, required: false } } },
    });
    expect(await phaseOf("easy-box")).toBe("running");
    expect(await typesOf("easy-box")).toContain("boot.sealed");
    await daemon.client.removeBox("easy-box", { force: true });
  });
});
