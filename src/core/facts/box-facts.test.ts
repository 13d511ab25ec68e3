import { describe, expect, it } from "vitest";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { waitFor } from "../../base/wait-for.ts";
import type { Box } from "../../contract/box.ts";
import type { EventType } from "../../contract/events.ts";
import type { NewModelRecord } from "../../contract/model/usage.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import { createOn, openTestCore, openTestHost } from "../../../test/support/core.ts";
import type { Core } from "../context.ts";
import { summariseBoxes } from "../box/summarise-box.ts";

async function withBoxes(
  body: (core: Core, boxes: readonly Box[]) => Promise<void>,
  count = 1,
): Promise<void> {
  await using host = await openTestHost();
  await using core = await openTestCore(host);
  for (let id = 0; id < count; id += 1)
    await createOn(core, { name: `team-app-${id}`, flags: { workspace: { mode: "empty" } }, start: false });
  await body(core, await core.ports.store.listBoxes());
}

const checkpointOf = (
  box: Box,
  number: number,
  files: number,
  more: Partial<Checkpoint> = {},
): Checkpoint => ({
  box: box.name,
  incarnation: box.incarnation,
  number,
  atMs: number,
  reason: "turn",
  commit: `c${number}`,
  tree: "t",
  head: "h",
  totals: { files, added: 0, deleted: 0 },
  bytes: 0,
  ...more,
});

const keep = (core: Core, box: Box, checkpoint: Checkpoint) =>
  core.commit({
    review: [{ kind: "checkpoint", key: String(checkpoint.number), value: checkpoint }],
    events: [core.event("checkpoint.taken", box, { reason: checkpoint.reason, ...checkpoint.totals })],
  });

const merged = (core: Core, box: Box, id: number, commit: string, isUndone: boolean, type: EventType) =>
  core.commit({
    review: [
      {
        kind: "merge",
        key: String(id),
        value: {
          id,
          box: box.name,
          incarnation: box.incarnation,
          projectDir: "/project",
          mode: "squash",
          atMs: 1,
          commit,
          before: "b",
          after: "a",
          files: 1,
          isUndone,
        },
      },
    ],
    events: [core.event(type, type === "work.undone" ? undefined : box, { box: box.name })],
  });

const recordOf = (box: Box, input: number, costMicroUsd?: number): NewModelRecord => ({
  atMs: 1,
  box: box.name,
  incarnation: box.incarnation,
  run: 1,
  agent: "shell",
  provider: "anthropic",
  model: "m",
  usage: { input, output: 1, cached: 0, cacheWrite: 0, reasoning: 0 },
  estimate: { input: 0, output: 0 },
  ...omitUndefined({ costMicroUsd }),
  status: 200,
  durationMs: 1,
});

const first = async (core: Core) => (await summariseBoxes(core, await core.ports.store.listBoxes()))[0]!;

describe("changed files", () => {
  it("are those of the newest checkpoint, before and after the first list", () =>
    withBoxes(async (core, [box]) => {
      await keep(core, box!, checkpointOf(box!, 2, 5));
      await keep(core, box!, checkpointOf(box!, 10, 7));
      expect((await first(core)).changedFiles).toBe(7);
      await keep(core, box!, checkpointOf(box!, 11, 9));
      expect((await first(core)).changedFiles).toBe(9);
    }));

  it("are read from the store by a daemon that has just started", async () => {
    await using host = await openTestHost();
    {
      await using core = await openTestCore(host);
      for (const name of ["one", "two"])
        await createOn(core, { name, flags: { workspace: { mode: "empty" } }, start: false });
      const [one, two] = await core.ports.store.listBoxes();
      await keep(core, one!, checkpointOf(one!, 9, 5));
      await keep(core, one!, checkpointOf(one!, 10, 7));
      await keep(core, two!, checkpointOf(two!, 1, 2, { commit: "merged" }));
      await merged(core, two!, 1, "merged", false, "work.merged");
    }
    await using core = await openTestCore(host);
    const summaries = await summariseBoxes(core, await core.ports.store.listBoxes());
    expect(summaries.map(({ changedFiles }) => changedFiles)).toEqual([7, 0]);
    expect(summaries.map(({ work }) => work)).toEqual(["unmerged", "merged"]);
  });

  it("are none after a merge, and again what they were when it is undone", () =>
    withBoxes(async (core, [box]) => {
      await keep(core, box!, checkpointOf(box!, 1, 3));
      expect(await first(core)).toMatchObject({ changedFiles: 3, work: "unmerged" });
      await merged(core, box!, 1, "c1", false, "work.merged");
      expect(await first(core)).toMatchObject({ changedFiles: 0, work: "merged" });
      await merged(core, box!, 1, "c1", true, "work.undone");
      expect(await first(core)).toMatchObject({ changedFiles: 3, work: "unmerged" });
    }));

  it("are none where only the person's own uncommitted work came along", () =>
    withBoxes(async (core, [box]) => {
      await keep(core, box!, checkpointOf(box!, 1, 4, { reason: "base" }));
      expect(await first(core)).toMatchObject({ changedFiles: 0, work: "clean" });
    }));

  it("count what the agent names until the next checkpoint says it exactly", () =>
    withBoxes(async (core, [box]) => {
      expect((await first(core)).changedFiles).toBeUndefined();
      for (const path of ["a", "b", "a"])
        await core.note("agent.event", box, { kind: "file_changed", path, change: "changed" });
      expect((await first(core)).changedFiles).toBe(2);
      await keep(core, box!, checkpointOf(box!, 1, 1));
      expect((await first(core)).changedFiles).toBe(1);
    }));

  it("stay bounded for an agent that names new paths for ever", () =>
    withBoxes(async (core, [box]) => {
      await first(core);
      await core.commit({
        events: Array.from({ length: 1_500 }, (_, id) =>
          core.event("agent.event", box, { kind: "file_changed", path: `f${id}`, change: "created" }),
        ),
      });
      expect((await first(core)).changedFiles).toBe(1_000);
    }));
});

describe("tokens and cost", () => {
  it("are of this box and not of an earlier one of the name; an unknown cost is left out", () =>
    withBoxes(async (core, [box]) => {
      await core.ports.store.recordModel([
        recordOf(box!, 9, 20),
        { ...recordOf(box!, 1_000, 1_000), incarnation: "earlier" },
      ]);
      expect(await first(core)).toMatchObject({ tokens: 10, costMicroUsd: 20 });
    }));

  it("leave out a cost that is not known", () =>
    withBoxes(async (core, [box]) => {
      await core.ports.store.recordModel([recordOf(box!, 9)]);
      const summary = await first(core);
      expect(summary.tokens).toBe(10);
      expect(summary).not.toHaveProperty("costMicroUsd");
    }));

  it("are asked from the store once, and counted along after that", () =>
    withBoxes(async (core, boxes) => {
      const { store } = core.ports;
      let sums = 0;
      const sumModel = store.sumModel.bind(store);
      store.sumModel = (query) => ((sums += 1), sumModel(query));
      await summariseBoxes(core, boxes);
      expect(sums).toBe(boxes.length);
      const request = {
        box: { name: boxes[0]!.name, incarnation: boxes[0]!.incarnation },
        provider: "anthropic",
        model: "unknown-model",
        estimate: { input: 1, output: 1 },
      };
      const admission = await core.budgets.admit(request as never, AbortSignal.timeout(10_000));
      if (admission.outcome !== "admitted") throw new Error("must be admitted");
      const outcome = {
        status: 200,
        hasAnswer: true,
        durationMs: 1,
        usage: { ...recordOf(boxes[0]!, 41).usage! },
      };
      core.budgets.settle(admission.ticket, request as never, outcome);
      sums = 0;
      expect((await first(core)).tokens).toBe(42);
      expect(sums).toBe(0);
    }, 5));
});

it("names the branch once it has been read, and again after something happened in the box", () =>
  withBoxes(async (core, [box]) => {
    let branch = "main";
    core.ports.storage.branch = async () => branch;
    const shown = async () => (await first(core)).branch;
    expect(await shown()).toBeUndefined();
    await waitFor("the branch is shown", async () => (await shown()) === "main");
    branch = "topic\u202e";
    await core.note("exec.ended", box);
    await waitFor("the new branch is shown", async () => (await shown()) === "topic\\u{202e}");
  }));

it("forgets a box that is gone", () =>
  withBoxes(async (core, [box]) => {
    await keep(core, box!, checkpointOf(box!, 1, 3));
    await core.ports.store.recordModel([recordOf(box!, 9, 20)]);
    await core.facts.ready([box!]);
    expect(core.facts.of(box!)).toMatchObject({ changedFiles: 3, tokens: 10 });
    await core.note("box.removed", box);
    expect(core.facts.of(box!)).toEqual({});
  }));
