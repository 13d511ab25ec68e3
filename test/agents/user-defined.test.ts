/** An agent that exists in one TOML file of a person: no line of AgentBox knows it, and everything works. */
import { expect, it } from "vitest";
import type { AgentInfo } from "../../src/contract/api/schemas.ts";
import { modelHost } from "../../src/contract/model/api.ts";
import { boxOf, fileOf, onAgents, questionsSince, testKey, watch } from "../support/agents.ts";

onAgents("an agent of a person's own", { fixtures: ["notebot"] }, (ground) => {
  it("is listed, with its options, beside those that come with AgentBox", async () => {
    const { agents: listed } = await ground.daemon.json<{ agents: readonly AgentInfo[] }>(["agents", "ls"]);
    const own = listed.find(({ name }) => name === "notebot");
    expect(own).toMatchObject({ origin: "user", installed: [expect.objectContaining({ source: "path" })] });
    expect(Object.keys(own?.options["properties"] ?? {})).toEqual(["file", "loud", "tone"]);
    expect(listed.find(({ name }) => name === "claude")).toMatchObject({ origin: "built-in", installed: [] });
  });

  it("works on a task, is understood, counted and resumed", async () => {
    const { daemon, model, play } = ground;
    play([{ text: "a small note", usage: { input: 120, output: 7 } }]);
    const sent = model.requests.length;
    const args = ["run", "notebot", "--name", "notes", "-o", "loud=true", "--task", "Write a note."];
    const run = await watch(daemon, args, { cwd: await ground.project() });
    expect({ code: run.code, ...run.ended }, run.stdout + run.stderr).toMatchObject({
      code: 0,
      verdict: "done",
    });
    expect(run.events.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([
        "session_started",
        "message",
        "tool_called",
        "tool_answered",
        "file_changed",
        "turn_done",
      ]),
    );
    expect(await fileOf(daemon, "notes", "note.txt")).toBe("A SMALL NOTE\n");
    const { totals } = await daemon.client.getUsage({ box: "notes" });
    expect(totals).toMatchObject({ requests: 1, usage: { input: 120, output: 7 }, estimated: 0 });
    expect(JSON.stringify(questionsSince(model, sent)[0]?.headers)).toContain(testKey);

    const { conversation } = (await boxOf(daemon, "notes")).run ?? {};
    const again = await watch(daemon, ["send", "notes", "And another."]);
    expect(again.ended, again.stdout + again.stderr).toMatchObject({ verdict: "done" });
    expect(JSON.stringify(questionsSince(model, sent)[1]?.body)).toContain("Write a note.");
    expect((await boxOf(daemon, "notes")).run).toMatchObject({ conversation, turns: 2 });
    const hosts = (await daemon.client.listEgress({ box: "notes" })).map(({ host }) => host);
    expect([...new Set(hosts)]).toEqual([modelHost]);
  });
});
