import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Core } from "../src/core/context.ts";
import { reconcile } from "../src/core/box/reconcile.ts";
import { listRemoved, sweepRemoved } from "../src/core/removal/removed-boxes.ts";
import { createOn, eventTypes, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host);
  await reconcile(core);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const dayMs = 86_400_000;

/** The record and the files that a removed box leaves. */
async function leave(name: string): Promise<string> {
  const { box } = await createOn(core, { name, start: false });
  const nowMs = host.clock.nowMs();
  const value = {
    box: name,
    incarnation: box.incarnation,
    record: box,
    checkpoints: [],
    upstream: [],
    unmerged: { files: 1, added: 1, deleted: 0, commits: 0 },
    removedAtMs: nowMs,
    expiresAtMs: nowMs + 7 * dayMs,
  };
  const events = [core.event("box.removed", box)];
  await core.commit({ review: [{ kind: "removed", key: "0", value }], events: [] });
  mkdirSync(core.ports.storage.keptReviewDir(box.incarnation), { recursive: true });
  await core.ports.storage.remove(name);
  await core.commit({ remove: { name }, events });
  return dirname(core.ports.storage.keptReviewDir(box.incarnation));
}

describe("the work of a removed box", () => {
  it("is deleted when its time is over, and not before", async () => {
    const kept = await leave("old-box");
    host.clock.offsetMs += 7 * dayMs - 60_000;
    await sweepRemoved(core);
    expect(existsSync(kept)).toBe(true);
    expect((await listRemoved(core)).map(({ box }) => box)).toEqual(["old-box"]);
    host.clock.offsetMs += 120_000;
    await sweepRemoved(core);
    expect(existsSync(kept)).toBe(false);
    expect(await listRemoved(core)).toEqual([]);
    expect(await eventTypes(core, "old-box")).toContain("box.forgotten");
  });

  it("is deleted where no record knows it", async () => {
    const kept = await leave("known-box");
    const stray = dirname(core.ports.storage.keptReviewDir("stray"));
    mkdirSync(stray, { recursive: true });
    await sweepRemoved(core);
    expect(existsSync(stray)).toBe(false);
    expect(existsSync(kept)).toBe(true);
  });

  it("is there again when the daemon ended while its box was coming back", async () => {
    await leave("back-box");
    const [removed] = await listRemoved(core);
    const { box } = await createOn(core, { name: "half-back", start: false });
    await core.commit({ remove: { name: "half-back" }, events: [] });
    await core.commit({ insert: { ...box, incarnation: removed!.incarnation }, events: [] });
    expect(await listRemoved(core)).toEqual([]);
    await reconcile(core);
    expect(await host.store.findBox("half-back")).toBeUndefined();
    expect((await listRemoved(core)).map(({ box: name }) => name)).toEqual(["back-box"]);
  });
});
