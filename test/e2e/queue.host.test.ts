/** The queue: tasks that wait for their turn, so many at a time; through pauses, budgets and a daemon that is killed. */
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { EventType } from "../../src/contract/events.ts";
import type { QueueAnswer, QueuedTask } from "../../src/contract/api/schemas/queue.ts";
import { boxOf, onAgents } from "../support/agents.ts";

onAgents("the queue", { fixtures: ["notebot"] }, (ground) => {
  /** Notebot, but for its patience: it asks again until it gets an answer, as agents do that people use. */
  beforeAll(async () => {
    const { home, scratch } = ground.daemon;
    const fixtures = new URL("../fixtures/agents", import.meta.url).pathname;
    const file = join(home, "agents/patient.toml");
    const text = readFileSync(join(fixtures, "notebot.toml"), "utf8").replaceAll('"notebot"', '"patient"');
    writeFileSync(file, text);
    const { uid, gid } = statSync(home);
    chownSync(file, uid, gid);
    const directory = join(scratch, "patient");
    mkdirSync(directory);
    const program = readFileSync(join(fixtures, "notebot/notebot"), "utf8");
    const again = "ask(messages).catch(() => new Promise((r) => setTimeout(r, 200)).then(insist))";
    writeFileSync(
      join(directory, "patient"),
      program.replace("await ask(messages)", `await (function insist() { return ${again}; })()`),
      { mode: 0o755 },
    );
    const added = await ground.daemon.cli(["agents", "add", "patient", "--from", directory]);
    if (added.code !== 0) throw new Error(added.stderr);
  });

  const released = new Set<string>();
  /** Each agent works until its task is released. */
  const working = (usage = { input: 10, output: 5 }): void => {
    released.clear();
    ground.play(async ({ prompts }) => {
      const task = prompts.at(-1) ?? "";
      await waitFor(`${task} is released`, () => [...released].some((one) => task.includes(one)), 60_000);
      return { text: `did ${task}`, usage };
    });
  };
  const read = (): Promise<QueueAnswer> => ground.daemon.client.listQueue();
  const states = async (): Promise<string> =>
    (await read()).tasks.map(({ task, state, verdict }) => `${task} ${verdict ?? state}`).join(", ");
  const until = async (wanted: string): Promise<void> => {
    let now = "";
    const isSo = async () => (now = await states()) === wanted;
    await waitFor(wanted, isSo, 30_000).catch(() => undefined);
    expect(now).toBe(wanted);
  };
  const taskOf = async (text: string): Promise<QueuedTask> =>
    (await read()).tasks.find(({ task }) => task === text)!;
  const queue = (args: readonly string[], cwd?: string) =>
    ground.daemon.cli(["queue", ...args], cwd === undefined ? {} : { cwd });
  const events = async (type: EventType) =>
    (await ground.daemon.client.listEvents({ type, limit: 1_000 })).events;

  afterEach(async () => {
    released.add("");
    const { client } = ground.daemon;
    await waitFor(
      "nothing runs",
      async () => !(await read()).tasks.some(({ state }) => state === "running" || state === "starting"),
      30_000,
    ).catch(() => undefined);
    const ids = (await read()).tasks.map(({ id }) => id);
    if (ids.length > 0) await client.removeQueued({ ids });
    for (const { name } of await client.listBoxes()) await client.removeBox(name, { force: true });
    await client.changeQueue({ isPaused: false, atOnce: 2, total: {} });
  });

  it("runs so many at a time, in an order that can be changed, and ends with what to review", async () => {
    working();
    const cwd = await ground.project();
    const file = join(ground.daemon.scratch, "tasks.txt");
    writeFileSync(file, '# tonight\none\n\ntwo\n{"task":"three","name":"third-box"}\nfour\n');
    const added = await queue(["add", file, "--agent", "notebot", "--at-once", "1"], cwd);
    expect(added, added.stderr).toMatchObject({ code: 0, stdout: "Added 4 tasks; 4 in the queue.\n" });
    await until("one running, two waiting, three waiting, four waiting");

    const last = (await taskOf("four")).id;
    await queue(["move", `${last}`, "--before", `${(await taskOf("two")).id}`]);
    await until("one running, four waiting, two waiting, three waiting");
    expect((await queue(["pause"])).stdout).toBe(
      "1 running, 3 waiting; 1 at a time. Paused. Go on with: agentbox queue resume\n",
    );
    released.add("one");
    await until("one done, four waiting, two waiting, three waiting");
    const running = await queue(["ls", "--at-once", "2"]);
    expect(running.stdout).toContain("2 at a time. Paused.");
    expect((await read()).tasks.filter(({ state }) => state === "running")).toEqual([]);
    await queue(["resume"]);
    await until("one done, four running, two running, three waiting");
    const busy = await queue(["rm", `${last}`]);
    expect(busy).toMatchObject({ code: 4, stderr: expect.stringContaining("is running.") });

    const waiting = queue(["wait"]);
    for (const task of ["four", "two", "three"]) released.add(task);
    const { code, stdout } = await waiting;
    expect(code, stdout).toBe(0);
    const boxes = (await read()).tasks.map(({ box }) => box);
    expect(boxes).toContain("third-box");
    for (const box of boxes) expect(stdout).toContain(`  agentbox diff ${box}\n`);
    expect(stdout).toContain("4 boxes to review:");
    expect((await boxOf(ground.daemon, "third-box")).run).toMatchObject({ task: "three", mode: "headless" });
    expect((await events("queue.drained")).at(-1)?.data).toMatchObject({ ended: 4, refused: 0, held: 0 });
    expect(await events("queue.started")).toHaveLength(4);
    expect((await events("queue.moved")).at(-1)?.data).toMatchObject({ task: last });

    // Only what has ended can be tried again, as it was.
    const { id, box } = await taskOf("three");
    expect((await queue(["retry", `${id}`])).code).toBe(0);
    await waitFor("it ran again", async () => {
      const again = await taskOf("three");
      return again.verdict === "done" && again.box !== box;
    });
    expect((await taskOf("three")).box).toBe("third-box-2");
    expect((await queue(["retry", "9999"])).code).toBe(3);
  });

  it("adds nothing where one task could not start, and says why", async () => {
    working();
    const cwd = await ground.project();
    const file = join(ground.daemon.scratch, "mixed.toml");
    const write = (second: string): void =>
      writeFileSync(
        file,
        `[[task]]\ntask = "good"\nagent = "notebot"\n\n[[task]]\ntask = "other"\nagent = "${second}"\nbudget = { run = { tokens = 5000 } }\n`,
      );
    write("nobot");
    const refused = await queue(["add", file], cwd);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("nobot");
    expect(await states()).toBe("");
    expect(await ground.daemon.client.listBoxes()).toEqual([]);
    // The daemon asks for itself, whatever the command line has checked.
    await expect(
      ground.daemon.client.addToQueue({
        projectDir: cwd,
        tasks: [
          { task: "good", flags: { agent: { name: "notebot" } } },
          { task: "other", flags: { agent: { name: "nobot" } } },
        ],
      }),
    ).rejects.toThrow('There is no agent named "nobot"');
    expect(await states()).toBe("");

    write("notebot");
    expect((await queue(["add", file], cwd)).code).toBe(0);
    await until("good running, other running");
    const { box } = await taskOf("other");
    expect((await boxOf(ground.daemon, box!)).spec.budget).toMatchObject([{ scope: "run", tokens: 5000 }]);
    for (const bad of ["task\n", '[[task]]\nname = "x"\n'])
      expect(await addText(bad, cwd)).toMatchObject({ code: 2, stderr: expect.stringMatching(/hint: /) });
  });
  const addText = (text: string, cwd: string) => {
    const file = join(ground.daemon.scratch, "bad.toml");
    writeFileSync(file, text);
    return queue(["add", file], cwd);
  };

  it("goes on after the daemon was killed, and makes no box twice", async () => {
    working();
    const cwd = await ground.project();
    await queue(["kept one", "kept two", "--agent", "notebot", "--at-once", "1"], cwd);
    await until("kept one running, kept two waiting");
    const { box } = await taskOf("kept one");
    await ground.daemon.kill();
    await ground.daemon.start();
    await until("kept one running, kept two waiting");
    released.add("kept");
    await waitFor("both have ended", async () =>
      (await read()).tasks.every(({ state }) => state === "ended"),
    );
    expect((await taskOf("kept one")).box).toBe(box);
    expect(await ground.daemon.client.listBoxes()).toHaveLength(2);
  });

  it("holds a task whose budget is used up, and stops where the day's is", async () => {
    working({ input: 400, output: 100 });
    released.add("");
    const cwd = await ground.project();
    await queue(["dear", "--agent", "patient", "--at-once", "1", "--budget-tokens", "5"], cwd);
    await until("dear held");
    await queue(["cheap", "--agent", "notebot"], cwd);
    await until("cheap done, dear held");
    const { stdout } = await queue(["ls"]);
    expect(stdout).toContain("out of budget");
    expect(stdout).toContain("Its budget is used up; it goes on when you raise it.");
    await ground.daemon.cli(["budget", "raise", (await taskOf("dear")).box!, "--tokens", "100000"]);
    await until("cheap done, dear done");

    const day = ["--set", "budget.day.tokens = 5"];
    await queue(["today", "tomorrow", "--agent", "patient", "--at-once", "1", ...day], cwd);
    await waitFor("the queue is paused", async () => (await read()).settings.isPaused);
    expect((await read()).settings.why).toBe("The budget of today is used up.");
    await until("cheap done, dear done, today held, tomorrow waiting");
    expect((await queue(["ls"])).stdout).toContain("Paused: The budget of today is used up.");
  });

  it("starts no further task when all have used their total together", async () => {
    working({ input: 60, output: 40 });
    const cwd = await ground.project();
    const flags = ["--agent", "notebot", "--at-once", "1", "--total-tokens", "150"];
    const added = await queue(["first", "second", "third", ...flags], cwd);
    expect(added.code, added.stderr).toBe(0);
    await until("first running, second waiting, third waiting");
    released.add("first");
    // 100 of 150 are used: the next one starts, and may go beyond, as its own budget says.
    await until("first done, second running, third waiting");
    released.add("second");
    await until("first done, second done, third waiting");
    await waitFor("the queue is paused", async () => (await read()).settings.isPaused);
    expect((await queue(["ls"])).stdout).toContain("Its tasks have used 200 of 150 tokens together.");
    // Going on without more is another pause, and a new total counts from now on.
    await queue(["resume"]);
    await waitFor("it is paused again", async () => (await read()).settings.isPaused);
    expect(await states()).toBe("first done, second done, third waiting");
    released.add("third");
    const more = await queue(["resume", "--total-tokens", "0"]);
    expect(more.stdout).not.toContain("tokens");
    await until("first done, second done, third done");
  });
});
