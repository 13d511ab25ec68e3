/** Mistakes about agents are reported at once, with a code and a hint, and no box starts. */
import { appendFileSync, chmodSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { eventsOf, onAgents, watch } from "../support/agents.ts";
import type { TestDaemon } from "../support/daemon.ts";

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly problems?: readonly Refusal[];
}

/** The error of a command with --json, which is the last line of stderr. */
async function errorOf(daemon: TestDaemon, args: readonly string[], cwd: string): Promise<Refusal> {
  const { code, stdout, stderr } = await daemon.cli([...args, "--json"], { cwd });
  expect(code, stdout).not.toBe(0);
  const line = stderr.split("\n").findLast((one) => one.startsWith("{"));
  return JSON.parse(line ?? "{}") as Refusal;
}

onAgents("bad input", { fixtures: ["notebot"] }, (ground) => {
  const task = ["--task", "Write the file."];

  it("an agent that does not exist, with the one that was meant", async () => {
    const error = await errorOf(ground.daemon, ["run", "cluade", ...task], await ground.project());
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(agent\.unknown|input\.invalid)$/),
      hint: expect.stringContaining("claude"),
    });
    expect(await ground.daemon.client.listBoxes()).toEqual([]);
  });

  it("an option that the agent does not have, with the one that was meant", async () => {
    const cwd = await ground.project();
    const error = await errorOf(ground.daemon, ["run", "notebot", "-o", "tome=warm", ...task], cwd);
    expect(error).toMatchObject({ code: "agent.option_invalid", hint: expect.stringContaining("tone") });
    const wrong = await errorOf(ground.daemon, ["run", "notebot", "-o", "tone=cold", ...task], cwd);
    expect(wrong).toMatchObject({ code: "agent.option_invalid" });
    expect(await ground.daemon.client.listBoxes()).toEqual([]);
  });

  it("an agent that is not installed, with how to install it", async () => {
    const cwd = await ground.project();
    const absent = await errorOf(ground.daemon, ["run", "claude", "--no-install", ...task], cwd);
    expect(absent).toMatchObject({
      code: "tool.not_installed",
      hint: expect.stringContaining("agents add claude"),
    });
    // On no registry, so that nothing can be installed without a person.
    const cursor = await errorOf(ground.daemon, ["run", "cursor", ...task], cwd);
    expect(cursor).toMatchObject({
      code: expect.stringMatching(/^tool\.(not_installed|install_failed)$/),
      hint: expect.stringContaining("--from"),
    });
    expect(await ground.daemon.client.listBoxes()).toEqual([]);
  });

  it("a program that was changed in the tool store; installing it again heals it", async () => {
    const { daemon } = ground;
    const cwd = await ground.project();
    const tools = join(daemon.home, "tools/agents/notebot");
    const [tree] = readdirSync(tools).filter((name) => !name.endsWith(".json"));
    const program = join(tools, tree!, "notebot");
    chmodSync(program, 0o755);
    appendFileSync(program, "\n");
    const refused = await errorOf(daemon, ["run", "notebot", ...task], cwd);
    expect(refused).toMatchObject({ code: "tool.tampered", hint: expect.stringContaining("agents add") });
    expect(await daemon.client.listBoxes()).toEqual([]);
    const events = await waitFor("the refusal is recorded", async () => {
      const { events: found } = await daemon.client.listEvents({ type: "tool.refused", limit: 10 });
      return found.length > 0 && found;
    });
    expect(JSON.stringify(events)).toContain("notebot");
    const source = new URL("../fixtures/agents/notebot", import.meta.url).pathname;
    expect((await daemon.cli(["agents", "add", "notebot", "--from", source])).code).toBe(0);
    const run = await watch(daemon, ["run", "notebot", "--name", "healed", ...task], { cwd });
    expect(run.ended, run.stdout + run.stderr).toMatchObject({ verdict: "done" });
  });

  it("a key that is not there, before a box is made", async () => {
    const { daemon } = ground;
    const cwd = await ground.project();
    const config = join(daemon.home, "config.toml");
    const before = readFileSync(config, "utf8");
    writeFileSync(config, before.replaceAll("TEST_MODEL_KEY", "NO_SUCH_KEY"));
    try {
      const refused = await errorOf(daemon, ["run", "notebot", "--name", "keyless", ...task], cwd);
      expect(refused).toMatchObject({
        code: "model.no_key",
        hint: expect.stringContaining("agentbox vault set"),
      });
      expect(refused.problems).toMatchObject([{ code: "model.no_key" }]);
      expect(await daemon.client.listBoxes()).not.toContainEqual(
        expect.objectContaining({ name: "keyless" }),
      );
      expect(await eventsOf(daemon, "keyless", "box.created")).toEqual([]);
    } finally {
      writeFileSync(config, before);
    }
  });

  it("a key that is gone when the agent asks: the agent is told, and the log says so", async () => {
    const { daemon } = ground;
    const cwd = await ground.project();
    const config = join(daemon.home, "config.toml");
    const before = readFileSync(config, "utf8");
    await daemon.client.addSecret({
      name: "passing",
      kind: "text",
      source: { kind: "stored" },
      value: Buffer.from("key").toString("base64"),
    });
    writeFileSync(config, before.replaceAll(/^key_env = .*$/gm, 'key = "vault:passing"'));
    try {
      await daemon.client.createBox({
        name: "keyless",
        projectDir: cwd,
        flags: { agent: { name: "notebot" } },
        run: { mode: "headless", task: "Write the file." },
        start: false,
      });
      await daemon.client.removeSecret({ name: "passing" });
      await daemon.client.startBox("keyless");
      const [refused] = await waitFor("the refusal is recorded", async () => {
        const found = await eventsOf(daemon, "keyless", "model.refused");
        return found.length > 0 && found;
      });
      expect(refused?.data).toMatchObject({ code: "model.no_key" });
      const verdict = await waitFor("the agent is judged", async () => {
        const { box } = await daemon.client.getBox("keyless");
        return box.run?.verdict;
      });
      expect(verdict).not.toBe("done");
      expect(JSON.stringify(await eventsOf(daemon, "keyless", "agent.event"))).toContain("model.no_key");
    } finally {
      writeFileSync(config, before);
    }
  });

  it("a racer that does not exist: nobody starts", async () => {
    const { daemon } = ground;
    const cwd = await ground.project();
    const before = (await daemon.client.listBoxes()).map(({ name }) => name);
    const race = (agents: string) => ["race", "Write the file.", "--agents", agents, "--name", "heat"];
    const refused = await errorOf(daemon, race("notebot,cluade"), cwd);
    expect(JSON.stringify(refused.problems)).toContain("cluade");
    expect(JSON.stringify(refused.problems)).not.toContain("notebot");
    const task = await errorOf(daemon, race("notebot,shell"), cwd);
    expect(task.problems).toMatchObject([{ code: "input.invalid" }]);
    expect((await daemon.client.listBoxes()).map(({ name }) => name)).toEqual(before);
    const { events } = await daemon.client.listEvents({ type: "box.created", limit: 100 });
    expect(JSON.stringify(events)).not.toContain("heat");
  });
});
