import { expect, it } from "vitest";
import { createOn, eventTypes, openTestCore, openTestHost } from "../../../test/support/core.ts";
import { waitFor } from "../../base/wait-for.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import { keptBytes } from "./kept-bytes.ts";
import { takeCheckpoint, takeQuietly } from "../review/take-checkpoint.ts";
import { TurnCheckpoints } from "../review/turn-checkpoints.ts";

const gib = 2 ** 30;

it("is bounded without a limit on the disk, and by the disk with one", () => {
  const [free, small] = [keptBytes(undefined), keptBytes(64 << 20)];
  expect(free).toEqual({ logs: 128 << 20, checkpoints: 8 * gib, events: 64 << 20 });
  expect(small).toEqual({ logs: 16 << 20, checkpoints: 64 << 20, events: 4 << 20 });
});

it("turns that never end to end make a bounded number of checkpoints, and the last of them is not lost", async () => {
  await using host = await openTestHost();
  const waits: { ms: number; call: () => void }[] = [];
  let nowMs = 0;
  host.clock.monotonicMs = () => nowMs;
  await using core = await openTestCore(host);
  await createOn(core, { name: "team-app-a", flags: { workspace: { mode: "empty" } } });
  const box = await core.getBox("team-app-a");
  host.clock.after = (ms, call) => (waits.push({ ms, call }), () => undefined);
  let taken = 0;
  const turns = new TurnCheckpoints(core, async () => void (taken += 1));
  // The control: an agent that works has a checkpoint for each of its turns.
  for (let turn = 1; turn <= 20; turn += 1) {
    turns.ended(box);
    await waitFor("it is taken", () => taken === turn);
  }
  for (let turn = 0; turn < 10_000; turn += 1) turns.ended(box);
  await waitFor("the next one waits", () => waits.length === 1);
  expect(taken).toBe(20);
  nowMs += waits[0]!.ms;
  expect(waits[0]!.ms).toBe(10_000);
  waits[0]!.call();
  await waitFor("all of them are in one", () => taken === 21);
});

it("checkpoints stop when they take what they may, those that nobody asked for first", async () => {
  await using host = await openTestHost();
  await using core = await openTestCore(host);
  await createOn(core, { name: "team-app-a", flags: { workspace: { mode: "empty" } } });
  const box = await core.getBox("team-app-a");
  const { link } = core.live.get("team-app-a")!;
  const value = {
    box: box.name,
    incarnation: box.incarnation,
    number: 1,
    atMs: 1,
    reason: "turn",
  } as Checkpoint;
  const keep = (bytes: number) =>
    core.commit({ review: [{ kind: "checkpoint", key: "1", value: { ...value, bytes } }], events: [] });
  const codeOf = (reason: "turn" | "manual") =>
    takeCheckpoint(core, box.name, { reason }).then(
      () => "taken",
      (error: { code: string }) => error.code,
    );
  // The control: below the limit the box is asked. This one has no shell, and that is what it says.
  await keep(gib);
  expect(await codeOf("turn")).toBe("review.failed");
  await takeQuietly(core, box, link, "turn");
  expect(await eventTypes(core, box.name)).not.toContain("limit.refused");
  await keep(9 * gib);
  expect(await codeOf("turn")).toBe("review.too_large");
  expect(await codeOf("manual")).toBe("review.failed");
  await takeQuietly(core, box, link, "turn");
  await waitFor("it is noted", async () => (await eventTypes(core, box.name)).includes("limit.refused"));
});

it("writes only so many bytes of what a box says into the event log, and says how many it left out", async () => {
  await using host = await openTestHost();
  const minutes: (() => void)[] = [];
  const after = host.clock.after;
  host.clock.after = (ms, call) => (ms === 60_000 ? (minutes.push(call), () => undefined) : after(ms, call));
  await using core = await openTestCore(host);
  await createOn(core, { name: "team-app-a", flags: { workspace: { mode: "empty" } } });
  const box = await core.getBox("team-app-a");
  const said = async () =>
    (await core.ports.store.listEvents({ limit: 1000, box: box.name })).filter(
      ({ type }) => type === "agent.event",
    ).length;
  const message = { kind: "message", role: "agent", text: "x" } as const;
  core.noteFromAgent(box, message);
  await waitFor("the control: it is written", async () => (await said()) === 1);
  core.live.get(box.name)!.eventBytes.spend(keptBytes(undefined).events);
  for (let n = 0; n < 500; n += 1) core.noteFromAgent(box, message);
  for (const end of minutes.splice(0)) end();
  const refused = await waitFor("the rest is counted", async () =>
    (await core.ports.store.listEvents({ limit: 1000, box: box.name })).find(
      ({ type }) => type === "limit.refused",
    ),
  );
  expect(refused.data).toMatchObject({ limit: "agent events", count: 500 });
  expect(await said()).toBe(1);
});
