/** How runs end when they do not end well. Agents' own exit codes lie; the verdict must not. */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { verdictExitCodes } from "../../src/contract/agent-events.ts";
import { namedScripts } from "../model/named-scripts.ts";
import {
  type AgentGround,
  boxOf,
  eventsOf,
  onAgents,
  questionsSince,
  watch,
  writeConfig,
} from "../support/agents.ts";

/** Nothing listens there. */
const nowhere = { url: "http://127.0.0.1:9" };

const runTask = async ({ daemon, project }: AgentGround, agent: string, name: string, ...more: string[]) =>
  watch(daemon, ["run", agent, "--name", name, "--task", "Write the file.", ...more], {
    cwd: await project(),
  });

for (const agent of ["codex", "qwen"]) {
  onAgents(`${agent} without a model`, { agents: [agent] }, (ground) => {
    it("gives up in bounded time, whatever the agent says itself", { timeout: 150_000 }, async () => {
      writeConfig(ground.daemon, nowhere);
      const run = await runTask(ground, agent, `${agent}-alone`);
      expect({ code: run.code, ...run.ended }, run.stdout + run.stderr).toMatchObject({
        code: verdictExitCodes.gave_up,
        verdict: "gave_up",
        why: expect.stringContaining("model.unavailable"),
      });
      expect((await boxOf(ground.daemon, `${agent}-alone`)).run).toMatchObject({
        state: "done",
        verdict: "gave_up",
      });
      // The control: the same agent with a model.
      writeConfig(ground.daemon, ground.model);
      const control = await runTask(ground, agent, `${agent}-control`);
      expect(control.ended).toMatchObject({ verdict: "done" });
    });
  });
}

onAgents("a run that goes wrong", { agents: ["claude"] }, (ground) => {
  it("says what the vendor said about a key it does not take", { timeout: 120_000 }, async () => {
    ground.play(namedScripts["error-401"]());
    const run = await runTask(ground, "claude", "bad-key");
    expect(run.ended?.verdict, run.stdout + run.stderr).toMatch(/^(gave_up|failed)$/);
    expect(run.code).toBe(verdictExitCodes[run.ended!.verdict]);
    expect(run.ended?.why).toMatch(/401|authentication/);
  });

  it("ends when its time is over", async () => {
    ground.play(namedScripts.hang());
    const startedMs = performance.now();
    const run = await runTask(ground, "claude", "too-late", "--timeout", "5s");
    expect({ code: run.code, ...run.ended }, run.stdout + run.stderr).toMatchObject({
      code: 124,
      verdict: "timed_out",
    });
    expect(performance.now() - startedMs).toBeGreaterThan(5_000);
    expect((await boxOf(ground.daemon, "too-late")).state.phase).toBe("stopped");
  });

  it("ends when somebody interrupts it", async () => {
    ground.play(namedScripts.hang());
    const sent = ground.model.requests.length;
    const running = runTask(ground, "claude", "stopped-short");
    await waitFor("the model is being asked", () => questionsSince(ground.model, sent).length > 0, 30_000);
    expect((await ground.daemon.cli(["interrupt", "stopped-short"])).code).toBe(0);
    const run = await running;
    expect({ code: run.code, ...run.ended }, run.stdout + run.stderr).toMatchObject({
      code: 130,
      verdict: "interrupted",
    });
    expect(await eventsOf(ground.daemon, "stopped-short", "agent.interrupted")).toHaveLength(1);
  });

  it("recovers from a rate limit", { timeout: 120_000 }, async () => {
    ground.play(namedScripts["fail-once"]({}));
    const run = await runTask(ground, "claude", "patient");
    expect({ code: run.code, ...run.ended }, run.stdout + run.stderr).toMatchObject({
      code: 0,
      verdict: "done",
    });
  });
});
