import { readlinkSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { BoxEvent } from "../../src/contract/events.ts";
import { type TestDaemon, boxedProcesses, startDaemon } from "../support/daemon.ts";

const kills = 100;
const pidNamespace = (pid: number): string => {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return "gone";
  }
};
const settled = new Set(["stopped", "running", "paused", "failed"]);

/** A small generator with a seed, so that a failing run can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The daemon's answers so far, which must be true after every crash. */
class Promises {
  readonly exists = new Set<string>();
  readonly removed = new Set<string>();
  /** Asked for, and not answered before the crash: either outcome is right. */
  readonly open = new Set<string>();
}

describe("kill -9 of the daemon", () => {
  let daemon: TestDaemon;
  const promises = new Promises();
  const seed = Date.now() % 1_000_000;
  const random = randomFrom(seed);
  let serial = 0;

  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];

  /** One random request. Its promise is written down when it is answered. */
  async function act(): Promise<void> {
    const { client } = daemon;
    const name = pick([...promises.exists].filter((box) => !promises.open.has(box)));
    const isNew = promises.exists.size < 3 || (promises.exists.size < 6 && random() < 0.25);
    // A name is used once: what was removed must stay away.
    const target = isNew ? `crash-box-${++serial}` : name;
    const choice = 2 + Math.floor(random() * 6);
    // Every box is busy with another request.
    if (target === undefined) return void (await new Promise((resolve) => setImmediate(resolve)));
    promises.open.add(target);
    if (isNew) {
      await client.createBox({ name: target, start: random() < 0.7 });
      promises.exists.add(target);
    } else if (choice === 2) await client.stopBox(target, { graceMs: 50 });
    else if (choice === 3) await client.startBox(target);
    else if (choice === 4) await client.pauseBox(target);
    else if (choice === 5) await client.resumeBox(target);
    else if (choice === 6) await client.restartBox(target);
    else if (choice === 7) {
      promises.exists.delete(target);
      await client.removeBox(target, { force: true });
      promises.removed.add(target);
    }
    promises.open.delete(target);
  }

  /** Requests that race each other until the crash ends them all. */
  async function traffic(untilMs: number): Promise<void> {
    const end = performance.now() + untilMs;
    const worker = async () => {
      while (performance.now() < end) {
        // A wrong phase or a lost connection are both right answers here.
        await act().catch(() => undefined);
      }
    };
    const workers = Promise.all([worker(), worker(), worker()]);
    await new Promise((resolve) => setTimeout(resolve, untilMs));
    await daemon.kill();
    await workers;
  }

  async function allEvents(): Promise<BoxEvent[]> {
    const events: BoxEvent[] = [];
    for (;;) {
      const page = await daemon.client.listEvents({ after: events.at(-1)?.id ?? 0, limit: 1000 });
      events.push(...page.events);
      if (page.events.length < 1000) return events;
    }
  }

  async function checkWorld(before: readonly BoxEvent[]): Promise<void> {
    const boxes = await waitFor("every box is at rest or at work", async () => {
      const list = await daemon.client.listBoxes();
      return list.every(({ phase }) => settled.has(phase)) ? list : undefined;
    });
    const names = new Set(boxes.map(({ name }) => name));
    for (const name of promises.exists) {
      if (!promises.open.has(name)) expect(names, `${name} was promised (seed ${seed})`).toContain(name);
    }
    for (const name of promises.removed)
      expect(names, `${name} was removed (seed ${seed})`).not.toContain(name);

    const events = await allEvents();
    expect(
      events.map(({ id }) => id),
      `event ids (seed ${seed})`,
    ).toEqual(events.map((_, index) => index + 1));
    expect(events.slice(0, before.length)).toEqual(before);

    for (const { name, phase } of boxes) {
      if (phase !== "running") continue;
      const code = await daemon.cli(["exec", name, "--", "true"]);
      expect(code.code, `${name}: ${code.stderr} (seed ${seed})`).toBe(0);
    }
    const alive = boxes.filter(({ phase }) => phase === "running" || phase === "paused").length;
    await waitFor(
      `exactly ${alive} boxes have processes (seed ${seed})`,
      () => new Set(boxedProcesses(daemon.home).map(pidNamespace)).size === alive,
    );

    // From here on the outcome of what was under way is known.
    promises.open.clear();
    promises.exists.clear();
    for (const name of names) promises.exists.add(name);
  }

  it(`loses no box and no event and leaves no orphan, ${kills} times at random moments`, {
    timeout: 600_000,
  }, async () => {
    let before: BoxEvent[] = [];
    for (let round = 0; round < kills; round++) {
      await traffic(Math.floor(random() * 250));
      await daemon.start();
      await checkWorld(before);
      before = await allEvents();
    }
    expect(before.length).toBeGreaterThan(kills);
  });

  it("leaves nothing behind in the end", async () => {
    for (const { name } of await daemon.client.listBoxes())
      await daemon.client.removeBox(name, { force: true });
    await waitFor("no process is left in any box", () => boxedProcesses(daemon.home).length === 0);
    expect(await daemon.client.listBoxes()).toEqual([]);
  });
});
