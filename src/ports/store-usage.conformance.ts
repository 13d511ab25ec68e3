/** The duties of every store for requests to models: no record is lost, and sums are exactly those of the records. */
import assert from "node:assert/strict";
import type { NewModelRecord, TokenUsage } from "../contract/model/usage.ts";
import type { StoreCase } from "./store-samples.ts";
import type { ModelQuery, Store, UsageGroup } from "./store.ts";

const dayMs = 86_400_000;
const usage = (input: number, output: number, parts: Partial<TokenUsage> = {}): TokenUsage => ({
  input,
  output,
  cached: 0,
  cacheWrite: 0,
  reasoning: 0,
  ...parts,
});

export const sampleModelRecord = (box: string, change: Partial<NewModelRecord> = {}): NewModelRecord => ({
  atMs: 1_000,
  box,
  incarnation: `${box}-first`,
  run: 1,
  agent: "claude",
  provider: "anthropic",
  model: "claude-test",
  usage: usage(10, 5),
  estimate: { input: 12, output: 100 },
  costMicroUsd: 30,
  status: 200,
  durationMs: 40,
  ...change,
});

/** The scope of most queries, in one number: how many requests they mean. */
const counting = (store: Store) => async (query: ModelQuery) => (await store.sumModel(query)).requests;

const keys = async (store: Store, by: UsageGroup) => (await store.groupModel({}, by)).map(({ key }) => key);

const recordCases: readonly StoreCase[] = [
  {
    name: "a request to a model comes back exactly as it was recorded, in order",
    async run(open) {
      await using store = await open();
      const whole = sampleModelRecord("one", {
        projectDir: "/p",
        usage: usage(10, 5, { cached: 3, cacheWrite: 2, reasoning: 1 }),
        error: "overloaded_error",
        firstByteMs: 7,
      });
      const { usage: _usage, costMicroUsd: _cost, ...bare } = sampleModelRecord("two", { status: 0 });
      await store.recordModel([whole, bare]);
      await store.recordModel([sampleModelRecord("one")]);
      const all = await store.listModel({ limit: 10 });
      assert.deepEqual(all, [
        { id: 1, ...whole },
        { id: 2, ...bare },
        { id: 3, ...sampleModelRecord("one") },
      ]);
      assert.deepEqual(await store.listModel({ after: 1, limit: 1 }), [{ id: 2, ...bare }]);
      assert.deepEqual(
        (await store.listModel({ box: "one", limit: 10 })).map(({ id }) => id),
        [1, 3],
      );
    },
  },
  {
    name: "sums are of every part; no records are a sum of zero",
    async run(open) {
      await using store = await open();
      const zero = { requests: 0, usage: usage(0, 0), costMicroUsd: 0, unpriced: 0, estimated: 0 };
      assert.deepEqual(await store.sumModel({}), zero);
      await store.recordModel([
        sampleModelRecord("one", { usage: usage(10, 5, { cached: 4, cacheWrite: 3, reasoning: 2 }) }),
        sampleModelRecord("two", { usage: usage(100, 50, { cached: 40 }), costMicroUsd: 300 }),
      ]);
      assert.deepEqual(await store.sumModel({}), {
        requests: 2,
        usage: usage(110, 55, { cached: 44, cacheWrite: 3, reasoning: 2 }),
        costMicroUsd: 330,
        unpriced: 0,
        estimated: 0,
      });
    },
  },
  {
    name: "without usage the estimate counts, and a cost that is not known is counted as such and not as zero",
    async run(open) {
      await using store = await open();
      const { usage: _usage, ...cut } = sampleModelRecord("one", { estimate: { input: 7, output: 1_000 } });
      const { costMicroUsd: _cost, ...unpriced } = sampleModelRecord("one");
      await store.recordModel([cut, unpriced, sampleModelRecord("one", { costMicroUsd: 0 })]);
      assert.deepEqual(await store.sumModel({ box: "one" }), {
        requests: 3,
        usage: usage(27, 1_010),
        costMicroUsd: 30,
        unpriced: 1,
        estimated: 1,
      });
    },
  },
];

const queryCases: readonly StoreCase[] = [
  {
    name: "requests are found by box, incarnation, run, agent and project, and by all of them together",
    async run(open) {
      await using store = await open();
      await store.recordModel([
        sampleModelRecord("one"),
        sampleModelRecord("one", { run: 2 }),
        sampleModelRecord("one", { incarnation: "one-second", projectDir: "/p" }),
        sampleModelRecord("two", { agent: "codex", projectDir: "/p" }),
      ]);
      const count = counting(store);
      assert.equal(await count({}), 4);
      assert.equal(await count({ box: "one" }), 3);
      assert.equal(await count({ box: "one", incarnation: "one-first" }), 2);
      assert.equal(await count({ box: "one", incarnation: "one-first", run: 2 }), 1);
      assert.equal(await count({ agent: "codex" }), 1);
      assert.equal(await count({ projectDir: "/p" }), 2);
      assert.equal(await count({ projectDir: "/p", agent: "claude" }), 1);
      assert.equal(await count({ projectDir: "/q" }), 0);
    },
  },
  {
    name: "a tree is the box of that name and what is below it, not what merely begins like it",
    async run(open) {
      await using store = await open();
      const names = ["shop", "shop-web", "shop-web-api", "shopper", "shop2", "my-shop"];
      await store.recordModel(names.map((name) => sampleModelRecord(name)));
      const count = counting(store);
      assert.equal(await count({ tree: "shop" }), 3);
      assert.equal(await count({ tree: "shop-web" }), 2);
      assert.equal(await count({ tree: "shopper" }), 1);
      assert.equal(await count({ tree: "sho" }), 0);
    },
  },
  {
    name: "a time span has its first moment and not its last",
    async run(open) {
      await using store = await open();
      await store.recordModel([10, 20, 30].map((atMs) => sampleModelRecord("one", { atMs })));
      const count = counting(store);
      assert.equal(await count({ fromMs: 20 }), 2);
      assert.equal(await count({ toMs: 20 }), 1);
      assert.equal(await count({ fromMs: 10, toMs: 30 }), 2);
      assert.equal(await count({ tree: "one", fromMs: 20 }), 2);
    },
  },
];

const groupCases: readonly StoreCase[] = [
  {
    name: "groups are by one property, the greatest cost first",
    async run(open) {
      await using store = await open();
      await store.recordModel([
        sampleModelRecord("one", { costMicroUsd: 5 }),
        sampleModelRecord("two", { costMicroUsd: 9, agent: "codex", projectDir: "/p", model: "m" }),
        sampleModelRecord("one", { costMicroUsd: 1 }),
      ]);
      assert.deepEqual(await keys(store, "box"), ["two", "one"]);
      assert.deepEqual(await keys(store, "agent"), ["codex", "claude"]);
      assert.deepEqual(await keys(store, "project"), ["/p", ""]);
      assert.deepEqual(await keys(store, "model"), ["m", "claude-test"]);
      const [first, second] = await store.groupModel({}, "box");
      assert.equal(first!.totals.costMicroUsd, 9);
      assert.deepEqual(second!.totals.usage, usage(20, 10));
      assert.deepEqual(
        (await store.groupModel({ projectDir: "/p" }, "box")).map(({ key }) => key),
        ["two"],
      );
    },
  },
  {
    name: "days begin at midnight UTC",
    async run(open) {
      await using store = await open();
      const noon = Date.UTC(2026, 1, 28, 12);
      const midnight = noon + dayMs / 2;
      await store.recordModel([
        sampleModelRecord("one", { atMs: midnight - 1, costMicroUsd: 2 }),
        sampleModelRecord("one", { atMs: midnight, costMicroUsd: 3 }),
        sampleModelRecord("one", { atMs: midnight + dayMs - 1, costMicroUsd: 4 }),
      ]);
      assert.deepEqual(
        (await store.groupModel({}, "day")).map(({ key, totals }) => [key, totals.costMicroUsd]),
        [
          ["2026-03-01", 7],
          ["2026-02-28", 2],
        ],
      );
    },
  },
];

export const usageCases: readonly StoreCase[] = [...recordCases, ...queryCases, ...groupCases];
