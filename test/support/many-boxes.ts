/** A fleet of any size: records of boxes that are at rest, written where the daemon keeps them. */
import { join } from "node:path";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { Box } from "../../src/contract/box.ts";
import type { NewModelRecord } from "../../src/contract/model/usage.ts";
import sqlite from "../../src/drivers/store/sqlite/index.ts";
import type { Store } from "../../src/ports/store.ts";
import type { TestDaemon } from "./daemon.ts";

/** The daemon's own store, for what would take too long through the API. The daemon may be running. */
export async function withStore<T>(
  { home }: Pick<TestDaemon, "home">,
  body: (store: Store) => Promise<T>,
): Promise<T> {
  await using store = await sqlite.open(join(home, "state.db"));
  return await body(store);
}

/** A box on the runtime that runs nothing. */
export const memoryBox = (
  daemon: TestDaemon,
  name: string,
  { start = false, projectDir }: { start?: boolean; projectDir?: string } = {},
) =>
  daemon.client.createBox({
    name,
    ...omitUndefined({ projectDir }),
    flags: { runtime: { name: "memory" }, workspace: { mode: "empty" } },
    start,
  });

const verdicts = ["done", "failed", undefined, "interrupted"] as const;

/** Boxes like the first one, with names of several levels and different ends. */
export async function addBoxes(daemon: TestDaemon, count: number): Promise<void> {
  const { box: first } = await memoryBox(daemon, "team-app-first");
  await withStore(daemon, async (store) => {
    for (let id = 0; id < count; id += 1) {
      const verdict = verdicts[id % verdicts.length];
      const box: Box = {
        ...first,
        name: `team-${["app", "web", "data"][id % 3]}-${String(id).padStart(3, "0")}`,
        incarnation: `${first.incarnation}-${id}`,
        ...(verdict === undefined ? {} : { run: { ...endedRun, verdict } }),
      };
      await store.commit({ insert: box, events: [] });
    }
  });
}

export const endedRun = { mode: "headless", turns: 1, starts: 1, state: "done", stateSinceMs: 1 } as const;

/** Takes away what `addBoxes` has added; one by one through the API, 500 take long. */
export const dropBoxes = (daemon: TestDaemon): Promise<void> =>
  withStore(daemon, async (store) => {
    for (const { name } of await store.listBoxes())
      if (/^team-(app|web|data)-\d+$/.test(name)) await store.commit({ remove: { name }, events: [] });
  });

/** One answer of a model, as it is kept. */
export const modelRecord = (box: Box, more: Partial<NewModelRecord> = {}): NewModelRecord => ({
  atMs: Date.now(),
  box: box.name,
  incarnation: box.incarnation,
  run: 1,
  agent: box.spec.agent.name,
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  usage: { input: 12_000, output: 3_456, cached: 6_000, cacheWrite: 0, reasoning: 0 },
  estimate: { input: 0, output: 0 },
  costMicroUsd: 1_234_567,
  status: 200,
  durationMs: 900,
  ...more,
});
