import { z } from "zod";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../src/base/wait-for.ts";
import type { AgentEntry, LaunchRequest } from "../src/contract/agent.ts";
import type { AgentEvent } from "../src/contract/agent-events.ts";
import type { ModelOutcome } from "../src/ports/model-gateway.ts";
import { interruptAgent, resumeRun, sendMessage } from "../src/core/agents/talk-to-agent.ts";
import type { Core } from "../src/core/context.ts";
import { pauseBox, resumeBox } from "../src/core/box/pause-box.ts";
import { reconcile } from "../src/core/box/reconcile.ts";
import { restartBox } from "../src/core/box/restart-box.ts";
import { startBox } from "../src/core/boot/start-box.ts";
import { stopBox } from "../src/core/box/stop-box.ts";
import { watchLifetimes } from "../src/core/box/watch-lifetimes.ts";
import { createOn, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
let launches: LaunchRequest[];
/** The agent's command: one of the simulated box. */
let command: readonly [string, ...string[]];

/** An agent whose output lines are events already. */
const scripted: AgentEntry = {
  name: "scripted",
  title: "Scripted",
  description: "Says what a test tells it to.",
  kind: "agent",
  install: { kind: "none" },
  options: z.strictObject({ mood: z.enum(["calm", "brisk"]).optional().describe("How it works.") }),
  api: "anthropic",
  isHeadless: true,
  takesConversationId: false,
  launch(request) {
    launches.push(request);
    return { argv: command, env: {}, files: [] };
  },
  readOutput: () => (line) => (line.startsWith("{") ? [JSON.parse(line) as AgentEvent] : []),
  keys: { submit: "\r", interrupt: "\u001b" },
  statePaths: [],
  loginPaths: [],
  hosts: [],
  traps: [],
};

const open = (options: { bootId?: string } = {}) =>
  openTestCore(host, { ...options, agents: { scripted }, hostVariable: () => "a-key" });

beforeEach(async () => {
  launches = [];
  command = ["cat"];
  host = await openTestHost();
  core = await open();
  await reconcile(core);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const says = (...events: AgentEvent[]): readonly [string, ...string[]] => [
  "echo",
  events.map((event) => JSON.stringify(event)).join("\n"),
];
const started: AgentEvent = { kind: "session_started", conversation: "talk-1" };
const done: AgentEvent = { kind: "turn_done", isError: false };
const answered: ModelOutcome = {
  status: 200,
  hasAnswer: true,
  durationMs: 1,
  stop: "end",
  usage: { input: 5, output: 2, cached: 0, cacheWrite: 0, reasoning: 0 },
};
const task = (text = "do it", more: { timeoutMs?: number } = {}) => ({
  flags: { agent: { name: "scripted" }, lifecycle: { restart: "no" } },
  run: { mode: "headless" as const, task: text, ...more },
});
const runOf = async (name: string) => (await core.getBox(name)).run;
const whenEnded = (name: string) =>
  waitFor("the agent to end", async () =>
    (await core.getBox(name)).state.phase === "stopped" ? true : undefined,
  );
const events = async (type: string) =>
  (await host.store.listEvents({ limit: 1_000 })).filter((event) => event.type === type);

/** The model gateway's report of one request. */
async function askModel(box: string, outcome: ModelOutcome = answered): Promise<void> {
  const { name, incarnation } = await core.getBox(box);
  const request = {
    box: { name, incarnation },
    api: "anthropic" as const,
    provider: "anthropic",
    model: "claude-test",
    estimate: { input: 5, output: 10 },
  };
  const admission = await core.modelListener.admit(request, AbortSignal.timeout(1_000));
  if (admission.outcome === "admitted") core.modelListener.settle(admission.ticket, request, outcome);
}

describe("a run with a task", () => {
  it("records what the agent says, its conversation and a verdict", async () => {
    command = says(started, { kind: "message", role: "agent", text: "hello" }, done);
    await createOn(core, { name: "a-run", ...task() });
    await whenEnded("a-run");
    expect(await runOf("a-run")).toMatchObject({
      state: "done",
      conversation: "talk-1",
      verdict: "done",
      turns: 1,
    });
    expect((await events("agent.event")).map(({ data }) => data["kind"])).toEqual([
      "session_started",
      "message",
      "turn_done",
    ]);
    expect(launches).toMatchObject([{ mode: "headless", task: "do it", autonomy: "full" }]);
    expect(launches[0]!.resume).toBeUndefined();
  });

  it("goes on with the same conversation when it is sent something", async () => {
    command = says(started, done);
    await createOn(core, { name: "a-run", ...task() });
    await askModel("a-run");
    await whenEnded("a-run");
    await sendMessage(core, "a-run", "and then?");
    await whenEnded("a-run");
    expect(launches[1]).toMatchObject({ task: "and then?", resume: { conversation: "talk-1" } });
    expect(await runOf("a-run")).toMatchObject({ turns: 2, verdict: "done" });
  });

  it("is resumed, not begun anew, after a restart; and begun anew where nothing was said yet", async () => {
    await createOn(core, { name: "a-run", ...task() });
    await restartBox(core, "a-run");
    expect(launches[1]!.resume).toBeUndefined();
    expect(launches[1]!.task).toBe("do it");
    await askModel("a-run");
    await restartBox(core, "a-run");
    expect(launches[2]!.resume).toBeDefined();
    expect(launches[2]!.task).not.toBe("do it");
  });

  it("takes no id of a conversation that could be read as a flag or a path", async () => {
    const forged = ["--dangerous", "-x", "../../x", "a/b", "a b", "x\ny", ""];
    command = says(started, ...forged.map((conversation) => ({ ...started, conversation })), done);
    await createOn(core, { name: "a-run", ...task() });
    await whenEnded("a-run");
    expect(await runOf("a-run")).toMatchObject({ conversation: "talk-1", verdict: "done" });
  });

  it("ends with its box, and has no verdict any more when it is started again", async () => {
    await createOn(core, { name: "a-run", ...task() });
    await stopBox(core, "a-run");
    expect(await runOf("a-run")).toMatchObject({ state: "done", verdict: "interrupted" });
    expect((await events("agent.ended")).map(({ data }) => data["verdict"])).toEqual(["interrupted"]);
    await startBox(core, "a-run");
    await waitFor("the agent to work", async () =>
      (await runOf("a-run"))?.state === "working" ? true : undefined,
    );
    expect((await runOf("a-run"))?.verdict).toBeUndefined();
  });

  it("is ended when its time is over also where its box is frozen", async () => {
    const stop = watchLifetimes(core);
    await createOn(core, { name: "a-run", ...task("do it", { timeoutMs: 1_000 }) });
    await pauseBox(core, "a-run");
    await whenEnded("a-run");
    stop();
    expect((await runOf("a-run"))?.verdict).toBe("timed_out");
  });

  it("is not late because somebody set the clock", async () => {
    await createOn(core, { name: "a-run", ...task("do it", { timeoutMs: 60_000 }) });
    host.clock.offsetMs = 3_600_000;
    expect(core.agentWatch.tick()).toEqual([]);
  });

  it("is judged rightly when a daemon that found it frozen lets it go on", async () => {
    await createOn(core, { name: "a-run", ...task() });
    await askModel("a-run");
    await pauseBox(core, "a-run");
    await core[Symbol.asyncDispose]();
    core = await open();
    await reconcile(core);
    await resumeBox(core, "a-run");
    expect(core.agentWatch.facts("a-run")).toBeDefined();
    await waitFor("the earlier answer", async () => core.agentWatch.facts("a-run")?.answers || undefined);
  });

  it("cannot be spoken to while it works, and can be interrupted", async () => {
    await createOn(core, { name: "a-run", ...task() });
    await expect(sendMessage(core, "a-run", "hm")).rejects.toMatchObject({ code: "agent.busy" });
    await interruptAgent(core, "a-run");
    await whenEnded("a-run");
    expect((await runOf("a-run"))?.verdict).toBe("interrupted");
  });

  it("is ended when its time is over", async () => {
    const stop = watchLifetimes(core);
    await createOn(core, { name: "a-run", ...task("do it", { timeoutMs: 1_000 }) });
    await whenEnded("a-run");
    stop();
    expect((await runOf("a-run"))?.verdict).toBe("timed_out");
  });

  it("is ended when the model cannot be reached, because some agents never give up", async () => {
    const stop = watchLifetimes(core);
    await createOn(core, { name: "a-run", ...task() });
    const refused: ModelOutcome = { status: 0, hasAnswer: false, durationMs: 1, error: "model.unavailable" };
    for (let tries = 0; tries < 8; tries += 1) await askModel("a-run", refused);
    await whenEnded("a-run");
    stop();
    expect((await runOf("a-run"))?.verdict).toBe("gave_up");
  });
});

describe("state", () => {
  it("changes with the traffic, one event for each change", async () => {
    await createOn(core, {
      name: "a-run",
      flags: { agent: { name: "scripted" } },
      run: { mode: "interactive" },
    });
    expect((await runOf("a-run"))?.state).toBe("idle");
    await askModel("a-run");
    await waitFor("the agent to wait", async () =>
      (await runOf("a-run"))?.state === "waiting" ? true : undefined,
    );
    await sendMessage(core, "a-run", "more");
    await askModel("a-run", { ...answered, stop: "tool" });
    await waitFor("the agent to work", async () =>
      (await runOf("a-run"))?.state === "working" ? true : undefined,
    );
    const changes = (await events("agent.state_changed")).map(({ data }) => data["to"]);
    expect(changes).toEqual(["working", "waiting", "working"]);
  });

  it("of an agent that changes its mind all the time does not fill the event log", async () => {
    await createOn(core, { name: "a-run", ...task() });
    for (let i = 0; i < 2_000; i += 1) {
      core.agentWatch.noteEvent("a-run", { kind: "approval_asked", what: "x" });
      core.agentWatch.noteEvent("a-run", { kind: "tool_called", id: "1", tool: "x", summary: "" });
      core.agentWatch.noteEvent("a-run", { kind: "session_started", conversation: `talk-${i}` });
    }
    core.agentWatch.noteEvent("a-run", { kind: "approval_asked", what: "the last" });
    core.agentWatch.tick();
    await waitFor("the last state", async () =>
      (await runOf("a-run"))?.state === "waiting" ? true : undefined,
    );
    expect((await events("agent.state_changed")).length).toBeLessThan(200);
    expect((await runOf("a-run"))?.conversation).toBe("talk-1999");
  });

  it("survives the daemon", async () => {
    await createOn(core, {
      name: "a-run",
      flags: { agent: { name: "scripted" } },
      run: { mode: "interactive" },
    });
    await core[Symbol.asyncDispose]();
    core = await open();
    await reconcile(core);
    await askModel("a-run");
    await waitFor("the agent to wait", async () =>
      (await runOf("a-run"))?.state === "waiting" ? true : undefined,
    );
    expect(launches).toHaveLength(1);
  });
});

describe("bad input", () => {
  it("is refused before a box is made", async () => {
    const make = (flags: object, run: object = { mode: "headless", task: "x" }) =>
      createOn(core, { name: "a-run", flags, run } as never);
    await expect(make({ agent: { name: "scriptd" } })).rejects.toMatchObject({
      message: expect.stringContaining("scriptd"),
    });
    await expect(make({ agent: { name: "scripted" } }, { mode: "headless" })).rejects.toMatchObject({
      code: "input.invalid",
    });
    await expect(make({ agent: { name: "claude" } })).rejects.toMatchObject({ code: "tool.not_installed" });
    await expect(make({ agent: { name: "scripted", options: { mod: "calm" } } })).rejects.toThrow(/mod/);
    expect(await host.store.listBoxes()).toEqual([]);
  });

  it("does not resume what has no agent", async () => {
    await createOn(core, { name: "a-shell" });
    await expect(resumeRun(core, "a-shell", { task: "x", cols: 80, rows: 24 })).rejects.toMatchObject({
      code: "agent.not_running",
    });
  });
});
