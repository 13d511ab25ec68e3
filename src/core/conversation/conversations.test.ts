import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import { waitFor } from "../../base/wait-for.ts";
import { createOn, openTestCore, openTestHost } from "../../../test/support/core.ts";
import type { Core } from "../context.ts";

async function withBox(
  body: (core: Core, box: Box, reopen: () => Promise<Core>) => Promise<void>,
): Promise<void> {
  await using host = await openTestHost();
  await using core = await openTestCore(host);
  const { box } = await createOn(core, {
    name: "talk-box",
    flags: { workspace: { mode: "empty" } },
    start: false,
  });
  const later: (Core & AsyncDisposable)[] = [];
  try {
    await body(core, box, async () => {
      const next = await openTestCore(host);
      later.push(next);
      return next;
    });
  } finally {
    for (const one of later) await one[Symbol.asyncDispose]();
  }
}

const all = (core: Core) => core.conversations.read("talk-box", { limit: 10_000 });
const kinds = async (core: Core) => (await all(core)).entries.map(({ kind }) => kind);
const message = (text: string, role: "agent" | "person" = "agent"): AgentEvent => ({
  kind: "message",
  role,
  text,
});

describe("what is kept", () => {
  it("has numbers that grow by one, and turns that begin with what a person asks", () =>
    withBox(async (core, box) => {
      core.conversations.asked(box, "Do it.", "ada");
      core.conversations.record(box, message("I do."));
      core.conversations.asked(box, "And more.", undefined);
      core.conversations.record(box, { kind: "tool_called", id: "t1", tool: "Bash", summary: "ls" });
      const { entries, firstSeq, lastSeq } = await all(core);
      expect(entries.map(({ seq, turn, kind }) => [seq, turn, kind])).toEqual([
        [1, 1, "asked"],
        [2, 1, "message"],
        [3, 2, "asked"],
        [4, 2, "tool_called"],
      ]);
      expect(entries[0]).toMatchObject({ text: "Do it.", from: "ada" });
      expect([firstSeq, lastSeq]).toEqual([1, 4]);
    }));

  it("goes on after a restart of the daemon, and after a start of the box, which counts its logs anew", () =>
    withBox(async (core, box, reopen) => {
      core.conversations.asked(box, "Do it.", "ada");
      await all(core);
      await core.ports.logs.startRun(box.name);
      core.conversations.record(box, message("Done."));
      await all(core);
      const next = await reopen();
      next.conversations.asked(box, "More.", "ada");
      const { entries } = await all(next);
      expect(entries.map(({ seq, turn }) => [seq, turn])).toEqual([
        [1, 1],
        [2, 1],
        [3, 2],
      ]);
    }));

  it("is read from a cursor, forwards and backwards", () =>
    withBox(async (core, box) => {
      for (let n = 1; n <= 600; n += 1) core.conversations.record(box, message(`m${n}`));
      const seqs = async (query: { after?: number; before?: number; limit: number }) =>
        (await core.conversations.read(box.name, query)).entries.map(({ seq }) => seq);
      expect(await seqs({ limit: 3 })).toEqual([598, 599, 600]);
      expect(await seqs({ before: 598, limit: 2 })).toEqual([596, 597]);
      expect(await seqs({ after: 598, limit: 10 })).toEqual([599, 600]);
      expect(await seqs({ after: 10, limit: 2 })).toEqual([11, 12]);
      expect(await seqs({ after: 600, limit: 10 })).toEqual([]);
    }));

  it("is bounded by the box's logs: the oldest entries go, and the answer says so", () =>
    withBox(async (core, box) => {
      const text = "x".repeat(32_000);
      for (let n = 1; n <= 700; n += 1) core.conversations.record(box, message(text));
      const { entries, firstSeq, lastSeq } = await all(core);
      expect(lastSeq).toBe(700);
      expect(firstSeq).toBeGreaterThan(1);
      expect(entries[0]?.seq).toBe(firstSeq);
      expect(entries.length * 32_000).toBeLessThan(9 << 20);
    }));

  it("takes no more than so many entries in a minute from an agent", () =>
    withBox(async (core, box) => {
      for (let n = 1; n <= 1_500; n += 1) core.conversations.record(box, message(`m${n}`));
      expect((await all(core)).entries).toHaveLength(1_200);
      // A person is still heard.
      core.conversations.asked(box, "Stop.", "ada");
      expect((await all(core)).entries.at(-1)).toMatchObject({ kind: "asked", text: "Stop." });
    }));
});

describe("the agent's reports", () => {
  it("do not repeat what AgentBox has passed on, but tell what was typed in the terminal", () =>
    withBox(async (core, box) => {
      core.conversations.asked(box, "Do it.\nNow.", "ada");
      core.conversations.record(box, message("Do it. Now.", "person"));
      core.conversations.record(box, message("Do it. Now.", "person"));
      expect(await kinds(core)).toEqual(["asked", "message"]);
    }));

  it("do not repeat the last message at the end of a turn", () =>
    withBox(async (core, box) => {
      core.conversations.record(box, message("All done."));
      core.conversations.record(box, { kind: "turn_done", isError: false, text: "All done." });
      core.conversations.record(box, { kind: "turn_done", isError: true, text: "It broke." });
      const { entries } = await all(core);
      expect(entries[1]).not.toHaveProperty("text");
      expect(entries[2]).toMatchObject({ text: "It broke." });
    }));
});

it("gives each turn its own share of what the box has spent, also after a restart", () =>
  withBox(async (core, box, reopen) => {
    const spend = (on: Core, input: number, costMicroUsd: number) =>
      on.ports.store.recordModel([
        {
          atMs: 1,
          box: box.name,
          incarnation: box.incarnation,
          run: 1,
          agent: "shell",
          provider: "anthropic",
          model: "m",
          usage: { input, output: 0, cached: 0, cacheWrite: 0, reasoning: 0 },
          estimate: { input: 0, output: 0 },
          costMicroUsd,
          status: 200,
          durationMs: 1,
        },
      ]);
    const ends = async (on: Core, count: number) =>
      waitFor("the turn has ended", async () => {
        const ended = (await all(on)).entries.filter(({ kind }) => kind === "turn_ended");
        return ended.length === count ? ended : undefined;
      });
    core.conversations.asked(box, "One.", "ada");
    await spend(core, 100, 7);
    core.conversations.turnEnded(box);
    expect(await ends(core, 1)).toMatchObject([{ turn: 1, tokens: 100, costMicroUsd: 7 }]);
    const next = await reopen();
    next.conversations.asked(box, "Two.", "ada");
    await spend(next, 30, 5);
    await next.note("agent.ended", box, { verdict: "done", why: "It said so." });
    expect((await ends(next, 2))[1]).toMatchObject({
      turn: 2,
      tokens: 30,
      costMicroUsd: 5,
      verdict: "done",
      why: "It said so.",
    });
  }));

it("notes checkpoints, interruptions and the last action", () =>
  withBox(async (core, box) => {
    core.conversations.record(box, { kind: "tool_called", id: "1", tool: "Bash", summary: "npm test" });
    await core.note("checkpoint.taken", box, { number: 3, reason: "turn", files: 2, added: 5, deleted: 1 });
    await core.note("checkpoint.taken", box, { number: 0, reason: "base", files: 0, added: 0, deleted: 0 });
    await core.note("agent.interrupted", box);
    expect(await kinds(core)).toEqual(["tool_called", "checkpoint", "interrupted"]);
    expect(core.conversations.lastAction(box)).toBe("Bash: npm test");
  }));
