import { describe, expect, it } from "vitest";
import { createOn, eventTypes, openTestCore, openTestHost } from "../../../test/support/core.ts";
import { waitFor } from "../../base/wait-for.ts";
import type { Box } from "../../contract/box.ts";
import type { NewEgressRecord } from "../../contract/network/egress.ts";
import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import { restartBox } from "../box/restart-box.ts";
import type { Core } from "../context.ts";
import { type EventShare, keptBytes } from "./kept-bytes.ts";
import { takeQuietly } from "../review/checkpoint-over-link.ts";
import { takeCheckpoint } from "../review/take-checkpoint.ts";
import { TurnCheckpoints } from "../review/turn-checkpoints.ts";

const gib = 2 ** 30;

it("is bounded without a limit on the disk, and by the disk with one", () => {
  const [free, small] = [keptBytes(undefined), keptBytes(64 << 20)];
  expect(free).toEqual({ logs: 128 << 20, checkpoints: 8 * gib, events: 64 << 20, receipts: 16 << 20 });
  expect(small).toEqual({ logs: 16 << 20, checkpoints: 64 << 20, events: 4 << 20, receipts: 1 << 20 });
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

/** As if it had caused all that it may. */
function fill(core: Core, box: Box, share: EventShare): void {
  const data = { text: "x".repeat(keptBytes(undefined)[share]) };
  core.eventBytes.spend(core.event("agent.event", box, data), share);
}

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
  fill(core, box, "events");
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

describe("what the gate decides about a box, and what its agent's state becomes", () => {
  const record = ({ name, incarnation }: Box, host: string, more: Partial<NewEgressRecord> = {}) => ({
    atMs: 1,
    box: name,
    incarnation,
    via: "tcp" as const,
    host,
    port: 443,
    verdict: "allow" as const,
    bytesOut: 0,
    bytesIn: 0,
    ...more,
  });
  const question = ({ name, incarnation }: Box, host: string) => ({
    box: { name, incarnation },
    host,
    port: 443,
  });

  /** A core with one box, and the ends of its minutes to be called. */
  async function ground() {
    const host = await openTestHost();
    const minutes: (() => void)[] = [];
    const after = host.clock.after;
    host.clock.after = (ms, call) =>
      ms === 60_000 ? (minutes.push(call), () => undefined) : after(ms, call);
    const core = await openTestCore(host);
    await createOn(core, { name: "team-app-a", flags: { workspace: { mode: "empty" } } });
    const box = await core.getBox("team-app-a");
    const counts = async () => {
      const events = await core.ports.store.listEvents({ limit: 1000, box: box.name });
      return (type: string) => events.filter((event) => event.type === type).length;
    };
    return {
      core,
      box,
      counts,
      endMinutes: () => minutes.splice(0).forEach((end) => end()),
      async [Symbol.asyncDispose]() {
        await core[Symbol.asyncDispose]();
        await host[Symbol.asyncDispose]();
      },
    };
  }

  it("counts towards what a box may cause in the event log", async () => {
    await using at = await ground();
    const { core, box, counts } = at;
    const tell = async (round: string) => {
      core.egressLog.add(record(box, `denied-${round}.test`, { verdict: "deny", reason: "no_rule" }));
      core.egressLog.add(record(box, `reached-${round}.test`));
      core.egressLog.add(record(box, "api.test", { secret: "key", isInjected: true }));
      await core.egressLog.flush();
    };
    await tell("first");
    const first = await counts();
    for (const type of ["egress.denied", "egress.allowed", "secret.used"])
      expect(first(type), type).toBeGreaterThan(0);
    fill(core, box, "events");
    await tell("second");
    const second = await counts();
    for (const type of ["egress.denied", "egress.allowed"]) expect(second(type), type).toBe(first(type));
    // Receipts of secrets have a quota of their own.
    expect(second("secret.used")).toBe(first("secret.used") + 1);
    at.endMinutes();
    await waitFor(
      "the rest is counted",
      async () => (await counts())("egress.denied") === first("egress.denied") + 1,
    );
  });

  it("names of servers that a box makes up have a bound, too, where a rule lets it reach all of them", async () => {
    await using at = await ground();
    const { core, box, counts } = at;
    for (let n = 0; n < 500; n += 1) core.egressLog.add(record(box, `n${n}.test`));
    await core.egressLog.flush();
    expect((await counts())("egress.allowed")).toBe(120);
  });

  it("asks no question that could not be written down", async () => {
    await using at = await ground();
    const { core, box } = at;
    const gone = new AbortController();
    const asked = core.approvals.ask(question(box, "a.test"), gone.signal);
    expect(core.approvals.list()).toHaveLength(1);
    gone.abort();
    expect(await asked).toBe(false);
    fill(core, box, "receipts");
    expect(await core.approvals.ask(question(box, "b.test"), new AbortController().signal)).toBe(false);
    expect(core.approvals.list()).toHaveLength(0);
  });

  it("is not forgotten when a box starts again", async () => {
    await using at = await ground();
    const { core, box } = at;
    fill(core, box, "events");
    await restartBox(core, box.name);
    expect(core.eventBytes.hasRoom(box.incarnation)).toBe(false);
  });
});
