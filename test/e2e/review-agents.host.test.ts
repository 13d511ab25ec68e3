/** A review with an agent behind it: its turns, its answers to comments, what it spent, and races between several. */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Checkpoint } from "../../src/contract/review/checkpoint.ts";
import type { ReviewComment } from "../../src/contract/review/comment.ts";
import type { Review } from "../../src/contract/review/review.ts";
import { modelHost } from "../../src/contract/model/api.ts";
import { boxOf, onAgents, questionsSince, watch } from "../support/agents.ts";
import { codeOf, reviewOf } from "../support/review.ts";

onAgents("a review of an agent's work", { fixtures: ["notebot"] }, (ground) => {
  const note = async (name: string, text = "a small note") => {
    ground.play([{ text, usage: { input: 120, output: 7 } }]);
    const dir = await ground.project({ "src/a.js": "one\ntwo\nthree\nfour\nfive\nsix\n" });
    const args = ["run", "notebot", "--name", name, "--keep", "--task", "Write a note."];
    const run = await watch(ground.daemon, args, { cwd: dir });
    expect(run.ended, run.stdout + run.stderr).toMatchObject({ verdict: "done" });
    return dir;
  };
  const comments = async (box: string) =>
    (await ground.daemon.json<{ comments: ReviewComment[] }>(["comment", box])).comments;

  it("has a checkpoint for each turn, without anybody looking, and a summary", async () => {
    const { daemon } = ground;
    await note("turns");
    const taken = () =>
      daemon
        .json<{ checkpoints: Checkpoint[] }>(["checkpoints", "turns"])
        .then(({ checkpoints }) => checkpoints);
    const first = await waitFor("the turn's checkpoint", async () => {
      const all = await taken();
      return all.length > 0 && all;
    });
    expect(first).toMatchObject([{ number: 1, reason: "turn", totals: { files: 1, added: 1 } }]);

    ground.play([{ text: "another" }]);
    await watch(daemon, ["send", "turns", "And another."]);
    await waitFor("the second turn's checkpoint", async () => (await taken()).length === 2);

    const { summary, agent } = await reviewOf(daemon, "turns");
    expect(agent).toMatch(/^notebot/);
    expect(summary).toMatchObject({ turns: 2, hostsReached: [modelHost], hostsDenied: [], verdict: "done" });
    expect(summary.commands).toBe(2);
    expect(summary.usage.requests).toBe(2);
    const stat = await daemon.cli(["diff", "turns", "--stat"]);
    expect(stat.stdout).toMatch(/2 turns/);
  });

  it("does not wake the agent: no session, no question to the model", async () => {
    const { daemon, model } = ground;
    await note("quiet");
    const sent = model.requests.length;
    const before = await boxOf(daemon, "quiet");
    for (const args of [
      ["diff", "quiet"],
      ["checkpoints", "quiet", "--take"],
      ["diff", "quiet", "--stat"],
    ])
      expect((await daemon.cli(args)).code).toBe(0);
    expect(model.requests.length).toBe(sent);
    expect(await boxOf(daemon, "quiet")).toEqual(before);
  });

  it("sends comments as one message with place, quoted lines and text, and keeps what is resolved", async () => {
    const { daemon, model } = ground;
    await note("commented");
    const say = (...args: string[]) => daemon.cli(["comment", "commented", ...args]);
    expect((await say("src/a.js:5", "use", "the", "cache")).code).toBe(0);
    expect((await say("note.txt", "shorter, please")).code).toBe(0);
    expect(await comments("commented")).toMatchObject([
      { id: 1, path: "src/a.js", line: 5, text: "use the cache", state: "draft" },
      { id: 2, path: "note.txt", text: "shorter, please", state: "draft" },
    ]);
    const sent = model.requests.length;
    ground.play([{ text: "done as you said" }]);
    const answer = await watch(daemon, ["comment", "commented", "--send"]);
    expect(answer.code, answer.stderr).toBe(0);
    const questions = questionsSince(model, sent);
    expect(questions).toHaveLength(1);
    const asked = JSON.stringify(questions[0]?.body);
    for (const text of ["src/a.js:5", "> four", "> five", "use the cache", "note.txt", "shorter, please"])
      expect(asked).toContain(text);
    expect(asked).not.toContain("> six");
    expect((await comments("commented")).map(({ state }) => state)).toEqual(["sent", "sent"]);
    expect((await daemon.cli(["comment", "commented", "--resolve", "1"])).code).toBe(0);
    expect((await reviewOf(daemon, "commented")).comments.map(({ state }) => state)).toEqual([
      "resolved",
      "sent",
    ]);
    const none = await say("--send");
    expect({ code: none.code, said: codeOf(none) }).toEqual({ code: 125, said: "review.nothing" });
    expect((await boxOf(daemon, "commented")).run).toMatchObject({ turns: 2 });
  });

  it("refuses comments on what is not there", async () => {
    const { daemon } = ground;
    await note("nowhere");
    const codes: Record<string, string | undefined> = {};
    for (const line of [
      "missing.txt:1",
      "src/a.js:99",
      "../../etc/passwd:1",
      "/etc/passwd",
      "src",
      "note.txt:0",
    ])
      codes[line] = codeOf(await daemon.cli(["comment", "nowhere", line, "text"]));
    expect(codes).toEqual({
      "missing.txt:1": "file.not_found",
      "src/a.js:99": "input.invalid",
      "../../etc/passwd:1": "file.not_found",
      "/etc/passwd": "file.not_found",
      src: "file.not_found",
      "note.txt:0": "input.invalid",
    });
    expect(codeOf(await daemon.cli(["comment", "nowhere", "note.txt:1", ""]))).toBe("input.invalid");
    expect(codeOf(await daemon.cli(["comment", "nowhere", "note.txt:1", "x".repeat(9_000)]))).toBe(
      "input.invalid",
    );
    expect(codeOf(await daemon.cli(["comment", "nowhere", "--resolve", "7"]))).toBe("comment.not_found");
    expect(await comments("nowhere")).toEqual([]);
  });

  it("runs a race, shows the results side by side, and keeps the one that is picked", async () => {
    const { daemon } = ground;
    ground.play([{ text: "raced", usage: { input: 10, output: 5 } }]);
    const dir = await ground.project();
    const raced = await daemon.cli(["race", "Write a note.", "--agents", "notebot", "--n", "2", "--json"], {
      cwd: dir,
      timeoutMs: 110_000,
    });
    expect(raced.code, raced.stderr).toBe(0);
    const { results } = JSON.parse(raced.stdout) as { results: Review[] };
    expect(results.map(({ box }) => box)).toEqual(["race-1-notebot-1", "race-1-notebot-2"]);
    for (const { totals, summary } of results) {
      expect(totals.files).toBe(1);
      expect(summary).toMatchObject({ verdict: "done", usage: { requests: 1 } });
    }
    const picked = await daemon.cli(["race", "--pick", "race-1-notebot-2"], { cwd: dir });
    expect(picked.code, picked.stderr).toBe(0);
    const left = (await daemon.client.listBoxes()).map(({ name }) => name);
    expect(left).toContain("race-1-notebot-2");
    expect(left).not.toContain("race-1-notebot-1");
    expect((await daemon.cli(["diff", "race-1-notebot-2"])).code).toBe(0);
    expect((await daemon.cli(["merge", "race-1-notebot-2"])).code).toBe(0);
    for (const args of [["x"], ["x", "--agents", "notebot"], ["--agents", "notebot", "--n", "2"]])
      expect(codeOf(await daemon.cli(["race", ...args], { cwd: dir })), args.join(" ")).toBe("input.invalid");
  });
});
