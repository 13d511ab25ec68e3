/** The duties of every agent in a box, each with its own tools and only the scripted model to ask. */
import { expect } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { modelHost } from "../../src/contract/model/api.ts";
import type { Usage } from "../model/usage.ts";
import { writeFileAndRun } from "../model/write-file-and-run.ts";
import {
  type AgentGround,
  boxOf,
  eventsOf,
  fileOf,
  filesWith,
  onAgents,
  questionsSince,
  testKey,
  untilQuiet,
  untilState,
  watch,
} from "../support/agents.ts";
import { cellsOf } from "./matrix.ts";

export interface AgentTraits {
  readonly agent: string;
  /** It prints text only, so its events are what the gateway sees. */
  readonly isSilent?: boolean;
  /** A task is one request: there is no second one for a budget to refuse, and at a terminal commands need a yes. */
  readonly isOneShot?: boolean;
  /** The text on its screen once it can be spoken to, if it rests before that. */
  readonly prompt?: string;
}

/** Everything that processes in the box were started with, kept where the test can look. */
const dumpEnvironment =
  "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' > environ.txt";
const usage: Partial<Usage> = { input: 700, cached: 300, output: 40 };

export function agentSuite(traits: AgentTraits): void {
  const { agent } = traits;
  onAgents(`${agent} in a box`, { agents: [agent] }, (ground) => {
    const cell = cellsOf(agent);
    cell("headless", "writes a file and runs a command with its own tools", () => headless(ground, traits));
    cell("interactive", "starts without a question, works, and can be interrupted", () =>
      interactive(ground, traits),
    );
    cell("resume", "goes on with its conversation after it has ended", () => nextTurn(ground, traits));
    cell("resume", "goes on after a restart, the death of its box and the death of the daemon", () =>
      survive(ground, traits),
    );
    cell("budget", "is stopped by its budget and goes on when that is raised", () => budget(ground, traits));
    cell("no stray hosts", "has asked for nothing but the model", () => hosts(ground));
  });
}

export async function headless(
  { daemon, model, play, project }: AgentGround,
  { agent, isSilent }: AgentTraits,
) {
  play(writeFileAndRun({ usage, command: `${dumpEnvironment}; echo ran > ran.txt` }));
  const [name, sent, before] = [`${agent}-task`, model.requests.length, model.usageTotals.all];
  const task = "Write hello.txt, then run the command.";
  const run = await watch(daemon, ["run", agent, "--name", name, "--task", task], { cwd: await project() });
  expect({ code: run.code, ...run.ended }, run.stdout + run.stderr).toMatchObject({
    code: 0,
    verdict: "done",
  });
  expect(await fileOf(daemon, name, "hello.txt")).toBe("hello\n");
  expect(await fileOf(daemon, name, "ran.txt")).toBe("ran\n");

  const count = (kind: string) => run.events.filter((event) => event.kind === kind).length;
  if (!isSilent) {
    for (const kind of ["session_started", "turn_done"]) expect(count(kind), kind).toBe(1);
    expect(count("message")).toBeGreaterThanOrEqual(1);
    expect([count("tool_called"), count("tool_answered")]).toEqual([2, 2]);
  }

  await conversationOf({
    daemon,
    name,
    task,
    tokens: model.usageTotals.all.output - before.output,
    isSilent,
  });

  // Every token the model counted, and not one more.
  const { totals } = await daemon.client.getUsage({ box: name });
  const after = model.usageTotals.all;
  const used = (kind: keyof Usage) => after[kind] - before[kind];
  expect(totals.usage).toMatchObject({
    input: used("input") + used("cached") + used("cacheWrite"),
    cached: used("cached"),
    output: used("output"),
  });
  expect(used("output")).toBeGreaterThan(0);
  expect(totals.estimated).toBe(0);

  // The key came to the model and never into the box.
  const questions = questionsSince(model, sent);
  expect(questions.every(({ headers }) => JSON.stringify(headers).includes(testKey))).toBe(true);
  const { paths } = await daemon.client.getBox(name);
  expect(await fileOf(daemon, name, "environ.txt")).toContain("HOME=/home/agent");
  expect([...(await filesWith(paths.workspace, testKey)), ...(await filesWith(paths.home, testKey))]).toEqual(
    [],
  );
}

/** The host's own record of it: the task as it was given, the tools with what they did, the end with its cost. */
async function conversationOf({
  daemon,
  name,
  task,
  tokens,
  isSilent,
}: {
  readonly daemon: AgentGround["daemon"];
  readonly name: string;
  readonly task: string;
  readonly tokens: number;
  readonly isSilent: boolean | undefined;
}) {
  const { entries, tells } = await waitFor("the conversation has its end", async () => {
    const read = await daemon.client.getConversation(name, {});
    return read.entries.some(({ kind }) => kind === "turn_ended") ? read : undefined;
  });
  expect(tells).toBe(isSilent ? "only_asked" : "all");
  // It was asked once, also by agents that repeat their task.
  expect(
    entries.filter(
      (entry) => entry.kind === "asked" || (entry.kind === "message" && entry.role === "person"),
    ),
  ).toEqual([expect.objectContaining({ kind: "asked", text: task, from: "owner" })]);
  const end = entries.find((entry) => entry.kind === "turn_ended");
  expect(end).toMatchObject({ verdict: "done" });
  expect(end?.tokens).toBeGreaterThan(tokens);
  if (isSilent) return;
  const calls = entries.filter((entry) => entry.kind === "tool_called");
  expect(JSON.stringify(calls)).toContain("hello");
}

async function interactive(
  { daemon, model, play, project }: AgentGround,
  { agent, isOneShot, prompt }: AgentTraits,
) {
  const name = `${agent}-chat`;
  const started = await daemon.cli(["run", agent, "--detach", "--name", name], { cwd: await project() });
  expect(started.code, started.stderr).toBe(0);
  await untilQuiet(daemon, name, prompt);
  expect((await boxOf(daemon, name)).run).toMatchObject({ state: "idle", mode: "interactive" });
  expect((await daemon.cli(["send", name, "Please write the file."])).code).toBe(0);
  const last = isOneShot ? "hello.txt" : "ran.txt";
  // It is there before it is written.
  await waitFor("the work is done", async () => Boolean(await fileOf(daemon, name, last)), 40_000);
  await untilState(daemon, name, "waiting");
  expect(await fileOf(daemon, name, "hello.txt")).toBe("hello\n");

  // One event for each change, and no change that was none.
  const changes = (await eventsOf(daemon, name, "agent.state_changed")).map(({ data }) => data);
  expect(changes).toEqual([
    { from: "idle", to: "working" },
    { from: "working", to: "waiting" },
  ]);

  // The message stands there once, with its sender, although the agent's hooks tell it as well.
  const { entries } = await daemon.client.getConversation(name, {});
  const asked = entries.filter(
    (entry) => entry.kind === "asked" || (entry.kind === "message" && entry.role === "person"),
  );
  expect(asked).toMatchObject([{ kind: "asked", text: "Please write the file.", from: "owner" }]);

  play([{ text: "This takes a long time. ".repeat(80), chunkDelayMs: 400 }]);
  const sent = model.requests.length;
  expect((await daemon.cli(["send", name, "Now slowly."])).code).toBe(0);
  const [slow] = await waitFor("the model is being asked", () => {
    const questions = questionsSince(model, sent);
    return questions.length > 0 && questions;
  });
  await untilState(daemon, name, "working");
  expect((await daemon.cli(["interrupt", name])).code).toBe(0);
  await waitFor("the agent has left the model", () => slow?.outcome === "abandoned");
  await untilState(daemon, name, "waiting");
  expect((await boxOf(daemon, name)).state.phase).toBe("running");
  await daemon.client.stopBox(name, { graceMs: 100 });
}

async function nextTurn({ daemon, model, play, project }: AgentGround, { agent, isSilent }: AgentTraits) {
  play([{ text: "The word is marble.", usage }]);
  const name = `${agent}-again`;
  const cwd = await project();
  const first = await watch(daemon, ["run", agent, "--name", name, "--task", "Remember the pebble."], {
    cwd,
  });
  expect(first.ended, first.stdout + first.stderr).toMatchObject({ verdict: "done" });
  const { conversation } = (await boxOf(daemon, name)).run ?? {};
  expect(conversation).toEqual(expect.any(String));
  const sent = model.requests.length;
  const second = await watch(daemon, ["send", name, "Say it again."]);
  expect({ code: second.code, ...second.ended }, second.stdout + second.stderr).toMatchObject({
    code: 0,
    verdict: "done",
  });
  expectRemembered(questionsSince(model, sent)[0]?.body, [
    "Remember the pebble.",
    "The word is marble.",
    "Say it again.",
  ]);
  const { run } = await boxOf(daemon, name);
  expect(run).toMatchObject({ conversation, turns: 2 });
  if (!isSilent) expect(second.events.map(({ kind }) => kind)).toContain("turn_done");
}

function expectRemembered(body: unknown, texts: readonly string[]): void {
  const text = JSON.stringify(body) ?? "";
  expect(texts.filter((one) => !text.includes(one))).toEqual([]);
}

async function survive({ daemon, model, play, project }: AgentGround, { agent, prompt }: AgentTraits) {
  const name = `${agent}-phoenix`;
  const cwd = await project({ "agentbox.toml": 'version = 1\n[lifecycle]\nrestart = "on-failure"\n' });
  const said: string[] = [];
  /** One more sentence to the agent; the model must see all that was said before. */
  const talk = async (text: string) => {
    said.push(text, `Answer to ${text}`);
    play([{ text: `Answer to ${text}`, usage }]);
    const before = model.requests.length;
    const { code, stderr } = await daemon.cli(["send", name, text]);
    expect(code, stderr).toBe(0);
    const [question] = await waitFor(
      `the model is asked: ${text}`,
      () => {
        const questions = questionsSince(model, before);
        return questions.length > 0 && questions;
      },
      30_000,
    );
    expectRemembered(question?.body, said.slice(0, -1));
    await untilState(daemon, name, "waiting");
  };
  const isBack = (pid: number | undefined) =>
    waitFor("the box is back", async () => {
      const { box, pid: now, isConnected } = await daemon.client.getBox(name);
      return box.state.phase === "running" && isConnected && now !== pid;
    });

  const started = await daemon.cli(["run", agent, "--detach", "--name", name], { cwd });
  expect(started.code, started.stderr).toBe(0);
  await untilQuiet(daemon, name, prompt);
  await talk("Remember the first thing.");
  const { conversation } = (await boxOf(daemon, name)).run ?? {};
  expect(conversation).toEqual(expect.any(String));

  // State that an agent has not written down yet dies with it; it writes when it is idle.
  await untilQuiet(daemon, name, prompt);
  expect((await daemon.cli(["restart", name])).code).toBe(0);
  await untilQuiet(daemon, name, prompt);
  await talk("And the second.");

  await untilQuiet(daemon, name, prompt);
  const { pid } = await daemon.client.getBox(name);
  process.kill(pid!, "SIGKILL");
  await isBack(pid);
  expect(await eventsOf(daemon, name, "box.died")).toHaveLength(1);
  await untilQuiet(daemon, name, prompt);
  await talk("And the third.");

  await daemon.kill();
  await daemon.start();
  await isBack(undefined);
  await talk("And the fourth.");
  expect((await boxOf(daemon, name)).run?.conversation).toBe(conversation);
  await daemon.client.stopBox(name, { graceMs: 100 });
}

async function budget({ daemon, play, project }: AgentGround, { agent, isOneShot }: AgentTraits) {
  // The first answer uses nearly everything, so the next question does not fit.
  const tokens = isOneShot ? "50" : "101000";
  play(writeFileAndRun({ usage: { input: 100_000, output: 10 } }));
  const name = `${agent}-thrifty`;
  const args = [
    "run",
    agent,
    "--task",
    "Write the file.",
    "--budget-tokens",
    tokens,
    "--name",
    name,
    "--detach",
  ];
  const started = await daemon.cli(args, { cwd: await project() });
  expect(started.code, started.stderr).toBe(0);
  await waitFor(
    "the budget is used up",
    async () => (await eventsOf(daemon, name, "budget.exhausted"))[0],
    60_000,
  );
  const stopped = await waitFor("the box rests", async () => {
    const box = await boxOf(daemon, name);
    return box.state.phase === "running" ? undefined : box;
  });
  const shown = await daemon.json<{ isExhausted: boolean }>(["budget", "show", name]);
  expect(shown.isExhausted).toBe(true);
  expect((await daemon.cli(["budget", "raise", name, "--tokens", "1000000"])).code).toBe(0);
  if (stopped.state.phase === "paused") {
    await waitFor("the agent is done", async () => (await boxOf(daemon, name)).run?.verdict, 60_000);
  }
  const { run } = await boxOf(daemon, name);
  if (run?.verdict !== "done") {
    // It took the refusal for the end; the work is there, and a word is enough to go on.
    expect(run?.verdict).toBe("out_of_budget");
    const more = await watch(daemon, ["send", name, "Go on."]);
    expect(more.ended, more.stdout + more.stderr).toMatchObject({ verdict: "done" });
  }
  expect(await fileOf(daemon, name, "hello.txt")).toBe("hello\n");
  expect(await fileOf(daemon, name, "ran.txt")).toBe("ran\n");
}

async function hosts({ daemon }: AgentGround) {
  // The control: what is asked for in vain is in the records.
  await daemon.client.createBox({ name: "stray-control", flags: { workspace: { mode: "empty" } } });
  await daemon.cli([
    "exec",
    "stray-control",
    "--no-stdin",
    "--",
    "curl",
    "-sS",
    "-m",
    "5",
    "http://stray.example/",
  ]);
  const hostsOf = async (box: string) =>
    new Set((await daemon.client.listEgress({ box, limit: 1_000 })).map(({ host }) => host));
  await waitFor("the stray request is recorded", async () =>
    (await hostsOf("stray-control")).has("stray.example"),
  );
  const boxes = (await daemon.client.listBoxes()).filter(({ name }) => name !== "stray-control");
  expect(boxes.length).toBeGreaterThanOrEqual(5);
  for (const { name } of boxes) expect([...(await hostsOf(name))], name).toEqual([modelHost]);
}
