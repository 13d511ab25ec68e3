/** A review with an agent behind it: its turns, its answers to comments, what it spent, and races between several. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Checkpoint } from "../../src/contract/review/checkpoint.ts";
import type { ReviewComment } from "../../src/contract/review/comment.ts";
import type { Review } from "../../src/contract/review/review.ts";
import { modelHost } from "../../src/contract/model/api.ts";
import { boxOf, onAgents, questionsSince, watch } from "../support/agents.ts";
import { runProgram } from "../support/program.ts";
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

  it("sends ranges and suggestions, and what was edited or deleted as it is at last", async () => {
    const { daemon, model } = ground;
    await note("drafted");
    const say = (...args: string[]) => daemon.cli(["comment", "drafted", ...args]);
    expect((await say("src/a.js:2-4", "shorter", "--suggest", "two to four")).code).toBe(0);
    expect((await say("src/a.js:6", "never mind")).code).toBe(0);
    expect((await say("src/a.js:5", "--suggest", "FIVE")).code).toBe(0);
    expect((await say("--edit", "1", "much", "shorter")).code).toBe(0);
    expect((await say("--delete", "2")).stdout).toContain("deleted #2");
    const listed = await say("--list");
    expect(listed.stdout).toContain("src/a.js:2-4");
    expect(listed.stdout).not.toContain("never mind");
    // Edited without a suggestion, it has none any more.
    expect(await comments("drafted")).toMatchObject([
      { id: 1, line: 2, endLine: 4, text: "much shorter", quoted: "one\ntwo\nthree\nfour" },
      { id: 3, line: 5, text: "", suggestion: "FIVE" },
    ]);
    expect((await comments("drafted"))[0]).not.toHaveProperty("suggestion");
    const refused: Record<string, string | undefined> = {};
    for (const args of [
      ["src/a.js:4-2", "backwards"],
      ["src/a.js:5-99", "too far"],
      ["src/a.js", "--suggest", "without a line"],
      ["--edit", "2", "gone"],
      ["--edit", "1"],
      ["--delete", "9"],
    ])
      refused[args.join(" ")] = codeOf(await say(...args));
    expect(Object.values(refused)).toEqual([
      "input.invalid",
      "input.invalid",
      "input.invalid",
      "comment.not_found",
      "input.invalid",
      "comment.not_found",
    ]);
    const sent = model.requests.length;
    ground.play([{ text: "done" }]);
    expect((await watch(daemon, ["comment", "drafted", "--send"])).code).toBe(0);
    const asked = JSON.stringify(questionsSince(model, sent)[0]?.body);
    for (const text of [
      "src/a.js:2-4",
      "much shorter",
      "Suggested change: replace line 5 with",
      "suggestion",
      "FIVE",
    ])
      expect(asked).toContain(text);
    expect(asked).not.toContain("never mind");
    // A message stays as it was sent.
    expect(codeOf(await say("--edit", "1", "other words"))).toBe("input.invalid");
    expect(codeOf(await say("--delete", "1"))).toBe("input.invalid");
  });

  it("lets the agent rebase onto the person's branch, with the commits in its box and in its message", async () => {
    const { daemon, model } = ground;
    const dir = await note("rebased", "agent's line");
    const git = (...args: string[]) =>
      runProgram([
        "git",
        "-c",
        "safe.directory=*",
        "-c",
        "user.name=P",
        "-c",
        "user.email=p@x.y",
        "-C",
        dir,
        ...args,
      ]);
    writeFileSync(join(dir, "note.txt"), "person's line\n");
    expect((await git("add", "-A")).code).toBe(0);
    expect((await git("commit", "-qm", "Write a note of my own")).code).toBe(0);
    const head = (await git("rev-parse", "HEAD")).stdout.trim();
    const branch = (await git("symbolic-ref", "--short", "HEAD")).stdout.trim();
    const conflict = await daemon.cli(["merge", "rebased", "--unseen"]);
    expect(codeOf(conflict)).toBe("merge.conflict");
    expect(conflict.stderr).toContain("agentbox rebase rebased");
    const sent = model.requests.length;
    ground.play([{ text: "rebased as you said" }]);
    const rebased = await daemon.cli(["rebase", "rebased"], { timeoutMs: 110_000 });
    expect(rebased.code, rebased.stderr).toBe(0);
    expect(rebased.stderr).toContain(`Brought 1 commit of ${branch} (${head.slice(0, 12)})`);
    const asked = JSON.stringify(questionsSince(model, sent)[0]?.body);
    for (const text of ["refs/agentbox/upstream", "Write a note of my own", "- note.txt"])
      expect(asked).toContain(text);
    const { events } = await daemon.client.listEvents({ box: "rebased", type: "review.upstream", limit: 5 });
    expect(events.map(({ data }) => data)).toEqual([{ commit: head, branch }]);
    // Not on top of it yet: the work is compared with what the box began with, and the second try has nothing new to say.
    expect((await reviewOf(daemon, "rebased")).changes.map(({ path }) => path)).toEqual(["note.txt"]);
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
    const asked = await daemon.cli(["race", "--pick", "race-1-notebot-2"], { cwd: dir });
    expect(codeOf(asked)).toBe("review.unmerged");
    expect(asked.stderr).toContain("race-1-notebot-1 (1 file, +1 -0)");
    const picked = await daemon.cli(["race", "--pick", "race-1-notebot-2", "--force"], { cwd: dir });
    expect(picked.code, picked.stderr).toBe(0);
    const left = (await daemon.client.listBoxes()).map(({ name }) => name);
    expect(left).toContain("race-1-notebot-2");
    expect(left).not.toContain("race-1-notebot-1");
    const kept = await daemon.client.listRemoved();
    expect(kept).toMatchObject([{ name: "race-1-notebot-1", task: "Write a note.", unmerged: { files: 1 } }]);
    expect((await daemon.cli(["diff", "race-1-notebot-2"])).code).toBe(0);
    expect((await daemon.cli(["merge", "race-1-notebot-2"])).code).toBe(0);
    for (const args of [["x"], ["x", "--agents", "notebot"], ["--agents", "notebot", "--n", "2"]])
      expect(codeOf(await daemon.cli(["race", ...args], { cwd: dir })), args.join(" ")).toBe("input.invalid");
  });
});
