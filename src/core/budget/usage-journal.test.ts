import { describe, expect, it } from "vitest";
import { deferred } from "../../base/deferred.ts";
import { type NewModelRecord, noUsage, type UsageTotals } from "../../contract/model/usage.ts";
import type { Amount } from "./amount.ts";
import { UsageJournal } from "./usage-journal.ts";

const record = (input: number): NewModelRecord => ({
  atMs: 1,
  box: "one",
  incarnation: "i",
  run: 1,
  agent: "claude",
  provider: "p",
  model: "m",
  usage: { ...noUsage, input },
  estimate: { input, output: 0 },
  costMicroUsd: input,
  status: 200,
  durationMs: 1,
});

/** A store that takes its time: a write is done when the test says so. */
class SlowStore {
  readonly batches: number[][] = [];
  readonly #written: NewModelRecord[] = [];
  hold = deferred<void>();

  async recordModel(records: readonly NewModelRecord[]): Promise<void> {
    this.batches.push(records.map(({ estimate }) => estimate.input));
    await this.hold.promise;
    this.#written.push(...records);
  }

  async sumModel(): Promise<UsageTotals> {
    const input = this.#written.reduce((sum, one) => sum + one.usage!.input, 0);
    const usage = { ...noUsage, input };
    return { requests: this.#written.length, usage, costMicroUsd: input, unpriced: 0, estimated: 0 };
  }
}

async function sumOf(journal: UsageJournal): Promise<Amount> {
  let found: Amount | undefined;
  await journal.sum({}, (total) => (found = total));
  return found!;
}

describe("UsageJournal", () => {
  it("starts to write before add returns", () => {
    const store = new SlowStore();
    new UsageJournal(
      () => store,
      () => undefined,
    ).add(record(1));
    expect(store.batches).toEqual([[1]]);
  });

  it("writes together what comes during a write, in order", async () => {
    const store = new SlowStore();
    const journal = new UsageJournal(
      () => store,
      () => undefined,
    );
    for (const input of [1, 2, 3]) journal.add(record(input));
    store.hold.resolve();
    expect(await sumOf(journal)).toEqual({ tokens: 6, microUsd: 6 });
    expect(store.batches).toEqual([[1], [2, 3]]);
  });

  it("keeps what could not be written, counts it, says so, and tries again", async () => {
    const store = new SlowStore();
    const reported: unknown[] = [];
    const journal = new UsageJournal(
      () => store,
      (error) => reported.push(error),
    );
    const full = new Error("disk full");
    store.hold.reject(full);
    journal.add(record(1));
    expect(await sumOf(journal)).toEqual({ tokens: 1, microUsd: 1 });
    await expect(journal.requireWritable()).rejects.toBe(full);
    expect(reported).toEqual([full, full]);
    store.hold = deferred();
    store.hold.resolve();
    await journal.requireWritable();
    await journal.requireWritable();
    expect(await sumOf(journal)).toEqual({ tokens: 1, microUsd: 1 });
    expect(store.batches).toEqual([[1], [1], [1]]);
  });
});
