/** The conversation of a box, as `logs` and the API tell it: kept by the host, also after the box has stopped. */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { ConversationEntry } from "../../src/contract/conversation.ts";
import { onAgents, watch } from "../support/agents.ts";

const escape = "\u001b]52;c;aGk=\u0007\u001b[2J";
const hostile = `**done** ${escape}<img src=x onerror=alert(1)> \u202e`;
const box = "talk-box";

onAgents("the conversation of a box", { fixtures: ["notebot"] }, (ground) => {
  const read = async (): Promise<readonly ConversationEntry[]> =>
    (await ground.daemon.client.getConversation(box, { limit: 1_000 })).entries;
  const ended = (turns: number) =>
    waitFor("the turn has ended", async () => {
      const entries = await read();
      return entries.filter(({ kind }) => kind === "turn_ended").length === turns ? entries : undefined;
    });
  const logs = async (...flags: string[]) => {
    const result = await ground.daemon.cli(["logs", box, ...flags]);
    expect(result.code, result.stderr).toBe(0);
    return result.stdout;
  };

  it("has the task with its sender, what the agent did, the checkpoint, and the end with its cost", async () => {
    ground.play([{ text: hostile, usage: { input: 120, output: 7 } }]);
    const args = ["run", "notebot", "--name", box, "--task", "Write a note.\nNow."];
    const run = await watch(ground.daemon, args, { cwd: await ground.project() });
    expect(run.ended, run.stdout + run.stderr).toMatchObject({ verdict: "done" });
    const entries = await ended(1);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_entry, index) => index + 1));
    expect(entries[0]).toMatchObject({ kind: "asked", text: "Write a note.\nNow.", from: "owner", turn: 1 });
    expect(entries.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["message", "tool_called", "tool_answered", "file_changed", "checkpoint"]),
    );
    expect(entries.at(-1)).toMatchObject({ kind: "turn_ended", verdict: "done", tokens: 127 });
  });

  it("is text without the agent's own sequences, our events as JSON, and the agent's bytes with --raw", async () => {
    const text = await logs();
    expect(text).toContain("> Write a note.\n> Now.");
    expect(text).toContain("<img src=x onerror=alert(1)>");
    expect(text).toMatch(/done, 127 tokens, /);
    expect(text).toContain(`agentbox diff ${box} --to 1`);
    // Control: the agent has printed them. The text shows that they were there, and the terminal is not given them.
    expect(await logs("--raw")).toContain("\\u001b]52;c;");
    expect(text).toContain("\\u{1b}]52;c;");
    for (const character of ["\u001b", "\u0007", "\u202e"]) expect(text).not.toContain(character);
    const lines = (await logs("--json")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as ConversationEntry)).toEqual(await read());
    expect((await logs("--tail", "1")).trim().split("\n")).toHaveLength(1);
  });

  it("goes on after the daemon was killed, with the next turn and what it cost", async () => {
    const before = await read();
    await ground.daemon.kill();
    await ground.daemon.start();
    expect(await read()).toEqual(before);
    ground.play([{ text: "again", usage: { input: 30, output: 3 } }]);
    const again = await watch(ground.daemon, ["send", box, "And another."]);
    expect(again.ended, again.stdout + again.stderr).toMatchObject({ verdict: "done" });
    const entries = (await ended(2)).slice(before.length);
    expect(entries[0]).toMatchObject({ kind: "asked", text: "And another.", from: "owner", turn: 2 });
    expect(entries.at(-1)).toMatchObject({ kind: "turn_ended", turn: 2, tokens: 33 });
  });

  it("says what is not there: a box without an agent has no conversation to follow", async () => {
    const { daemon } = ground;
    await daemon.cli(["run", "shell", "--name", "plain-box", "--keep", "--", "echo", "one"]);
    const refused = await daemon.cli(["logs", "plain-box", "--json"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr + refused.stdout).toContain("is text, and has no JSON");
  });
});
