import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleBox, sampleEvent } from "../../../ports/store-samples.ts";
import type { ChainMark } from "../../../ports/store.ts";
import { chainOldEvents } from "./chain-old-events.ts";
import sqlite from "./index.ts";
import { applicationId, migrations } from "./migrations.ts";

let dir: string;
let serial = 0;
const newPath = () => join(dir, `store-${++serial}.db`);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "agentbox-chain-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Ten events, and then an attacker with write access to the file: triggers do not stop them. */
async function tampered(change: string): Promise<{ path: string; mark: ChainMark }> {
  const path = newPath();
  await using store = await sqlite.open(path);
  for (let n = 1; n <= 10; n++)
    await store.commit({ events: [sampleEvent("box.created", `box-${n}`, { n })] });
  const { events: id, head, brokenAt } = await store.verifyEvents();
  expect({ id, brokenAt }).toEqual({ id: 10, brokenAt: undefined });
  const hand = new Database(path);
  hand.exec("DROP TRIGGER events_never_change; DROP TRIGGER events_never_go");
  hand.exec(change);
  hand.close();
  return { path, mark: { id, head } };
}

async function verify(path: string, mark?: ChainMark) {
  await using store = await sqlite.open(path);
  return await store.verifyEvents(mark);
}

describe("a log that somebody changed in the file", () => {
  it.each<[what: string, sql: string, brokenAt: number]>([
    ["other data", `UPDATE events SET data = '{"n":99}' WHERE id = 4`, 4],
    ["data that is no JSON", "UPDATE events SET data = '{' WHERE id = 4", 4],
    ["another time", "UPDATE events SET at_ms = at_ms + 1 WHERE id = 4", 4],
    ["another type", "UPDATE events SET type = 'box.removed' WHERE id = 1", 1],
    ["another box", "UPDATE events SET box = 'other' WHERE id = 10", 10],
    ["no box", "UPDATE events SET box = NULL WHERE id = 10", 10],
    ["a row taken out", "DELETE FROM events WHERE id = 5", 5],
    [
      "a row taken out and the rest moved up",
      "DELETE FROM events WHERE id = 5; UPDATE events SET id = id - 1 WHERE id > 5",
      5,
    ],
    ["its beginning cut off", "DELETE FROM events WHERE id < 4", 1],
    [
      "a row put before all",
      "INSERT INTO events (id, at_ms, type, data) VALUES (0, 1, 'daemon.started', '{}')",
      1,
    ],
    [
      "two swapped",
      "UPDATE events SET id = -1 WHERE id = 3; UPDATE events SET id = 3 WHERE id = 7; UPDATE events SET id = 7 WHERE id = -1",
      3,
    ],
    [
      "a row of somebody else's at the end",
      "INSERT INTO events (at_ms, type, data) VALUES (1, 'daemon.started', '{}')",
      11,
    ],
    ["a digest of somebody else's", "UPDATE events SET digest = 'x' WHERE id = 6", 6],
  ])("%s shows", async (_, sql, brokenAt) => {
    const { path } = await tampered(sql);
    expect(await verify(path)).toMatchObject({ brokenAt });
  });

  it("a cut-off end shows against what was noted before, also when others were put in its place", async () => {
    const { path, mark } = await tampered("DELETE FROM events WHERE id > 7");
    // The control: what is left is a chain of its own.
    const alone = await verify(path);
    expect(alone).toEqual({ events: 7, head: expect.any(String) });
    expect(await verify(path, mark)).toMatchObject({ events: 7, brokenAt: 8 });
    await using store = await sqlite.open(path);
    for (let n = 0; n < 5; n++) await store.commit({ events: [sampleEvent("daemon.started")] });
    expect(await store.verifyEvents()).toMatchObject({ events: 12 });
    expect(await store.verifyEvents(mark)).toMatchObject({ brokenAt: 10 });
  });

  it("shows a hole even when every digest was made anew; without a hole only what was noted before does", async () => {
    const { path, mark } = await tampered("DELETE FROM events WHERE id = 5");
    const hand = new Database(path);
    hand.exec("UPDATE events SET digest = ''");
    chainOldEvents(hand);
    expect(await verify(path)).toMatchObject({ brokenAt: 5 });
    hand.exec("UPDATE events SET id = id - 1 WHERE id > 5");
    chainOldEvents(hand);
    hand.close();
    expect(await verify(path)).toMatchObject({ events: 9 });
    expect(await verify(path, mark)).toMatchObject({ brokenAt: 10 });
  });

  it("is still written to, and still says where it was changed", async () => {
    const { path } = await tampered("UPDATE events SET data = '{}' WHERE id = 4");
    await using store = await sqlite.open(path);
    await store.commit({ events: [sampleEvent("daemon.started")] });
    expect(await store.verifyEvents()).toMatchObject({ events: 3, brokenAt: 4 });
  });
});

describe("a store from before there were secrets and a chain", () => {
  const count = 100_000;
  /** Steps of the releases that had none. */
  const oldSteps = 4;

  it("with 100,000 events gets both for a few times the cost of writing them, keeps every event, and is append-only again", async () => {
    const path = newPath();
    const hand = new Database(path);
    for (const step of migrations.slice(0, oldSteps)) hand.exec(step as string);
    hand.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${oldSteps}; BEGIN`);
    const writing = performance.now();
    const insert = hand.prepare(
      "INSERT INTO events (at_ms, type, box, incarnation, data) VALUES (?, 'exec.ended', 'one', 'i', ?)",
    );
    for (let n = 0; n < count; n++) insert.run(n, JSON.stringify({ session: `s-${n}`, exitCode: 0 }));
    const { secrets: _secrets, ...oldSpec } = sampleBox("one").spec;
    hand
      .prepare("INSERT INTO boxes (name, incarnation, phase, box) VALUES ('one', 'one-first', 'creating', ?)")
      .run(JSON.stringify({ ...sampleBox("one"), spec: oldSpec }));
    hand.exec("COMMIT");
    const wroteMs = performance.now() - writing;
    const opening = performance.now();
    await using store = await sqlite.open(path);
    // It reads, digests and writes each event once; looking for the one before it in the table would take hours.
    expect((performance.now() - opening) / wroteMs).toBeLessThan(50);
    expect(await store.verifyEvents()).toEqual({
      events: count,
      head: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await store.listEvents({ limit: 1, newestFirst: true }))[0]).toEqual({
      id: count,
      atMs: count - 1,
      type: "exec.ended",
      box: "one",
      incarnation: "i",
      data: { session: `s-${count - 1}`, exitCode: 0 },
    });
    expect(await store.findBox("one")).toEqual(sampleBox("one"));
    expect(() => hand.exec("UPDATE events SET type = 'x'")).toThrow("append-only");
    hand.close();
  }, 120_000);
});
