/**
 * The duties of every store, as plain data: a name and a function that throws when the promise is broken. Runs under
 * any test runner; `open` gives an empty store each time.
 */
import assert from "node:assert/strict";
import type { NetworkRule } from "../contract/network/policy.ts";
import type { EgressQuery, Store, TrustRecord } from "./store.ts";
import { type QueueEntry, type TaskRecord, queueKey } from "./queue-records.ts";
import { type StoreCase, sampleBox, sampleEgress, sampleEvent } from "./store-samples.ts";
import { secretCases } from "./store-secrets.conformance.ts";
import { usageCases } from "./store-usage.conformance.ts";

const sampleTrust = (projectDir: string, digest: string): TrustRecord => ({
  projectDir,
  digest,
  requests: ["mount /srv/data read-only"],
  grantedAtMs: 7,
});

const hasCode = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

const boxCases: readonly StoreCase[] = [
  {
    name: "a new store is empty",
    async run(open) {
      await using store = await open();
      assert.deepEqual(await store.listBoxes(), []);
      assert.deepEqual(await store.listEvents({ limit: 10 }), []);
      assert.deepEqual(await store.listTrust(), []);
      assert.equal(await store.lastEventId(), 0);
      assert.equal(await store.findBox("absent"), undefined);
    },
  },
  {
    name: "a box comes back exactly as it was inserted, and lists are in order of name",
    async run(open) {
      await using store = await open();
      const odd = sampleBox("team-b", { projectDir: '/tmp/\u{1f4e6} "quoted"\n', expiresAtMs: 2 ** 52 });
      await store.commit({ insert: odd, events: [] });
      await store.commit({ insert: sampleBox("team-a"), events: [] });
      await store.commit({ insert: sampleBox("team-a1"), events: [] });
      assert.deepEqual(await store.findBox("team-b"), odd);
      assert.deepEqual(
        (await store.listBoxes()).map((box) => box.name),
        ["team-a", "team-a1", "team-b"],
      );
    },
  },
  {
    name: "changing a record that was read or written changes nothing in the store",
    async run(open) {
      await using store = await open();
      const box = sampleBox("mine");
      await store.commit({ insert: box, events: [] });
      box.restarts = 99;
      (await store.findBox("mine"))!.restarts = 98;
      assert.equal((await store.findBox("mine"))!.restarts, 0);
    },
  },
  {
    name: "a name is taken once, until its box is removed",
    async run(open) {
      await using store = await open();
      await store.commit({ insert: sampleBox("one"), events: [] });
      await assert.rejects(store.commit({ insert: sampleBox("one"), events: [] }), hasCode("box.name_taken"));
      await store.commit({ remove: { name: "one" }, events: [] });
      await store.commit({ insert: sampleBox("one", { incarnation: "second" }), events: [] });
      assert.equal((await store.findBox("one"))!.incarnation, "second");
    },
  },
  {
    name: "an update reaches only the same incarnation",
    async run(open) {
      await using store = await open();
      const first = sampleBox("one");
      await store.commit({ insert: first, events: [] });
      await store.commit({ update: { ...first, restarts: 1 }, events: [] });
      assert.equal((await store.findBox("one"))!.restarts, 1);
      const other = { ...first, incarnation: "other", restarts: 2 };
      await assert.rejects(store.commit({ update: other, events: [] }), hasCode("box.not_found"));
      await assert.rejects(store.commit({ update: sampleBox("gone"), events: [] }), hasCode("box.not_found"));
      assert.equal((await store.findBox("one"))!.restarts, 1);
    },
  },
  {
    name: "the work of a removed box stays until it is forgotten, also when a box of its name is removed",
    async run(open) {
      await using store = await open();
      const box = sampleBox("one");
      const value = {
        box: box.name,
        incarnation: box.incarnation,
        record: box,
        checkpoints: [],
        upstream: [],
        unmerged: { files: 1, added: 2, deleted: 3, commits: 0 },
        removedAtMs: 4,
        expiresAtMs: 5,
      };
      await store.commit({ insert: box, review: [{ kind: "removed", key: "0", value }], events: [] });
      await store.commit({ remove: { name: "one" }, events: [] });
      await store.commit({ insert: sampleBox("one", { incarnation: "second" }), events: [] });
      await store.commit({ remove: { name: "one" }, events: [] });
      assert.deepEqual(await store.listReview("removed", {}), [value]);
      const drop = { kind: "removed", key: "0" } as const;
      await store.commit({ dropReview: { ...drop, incarnation: "second" }, events: [] });
      assert.deepEqual(await store.listReview("removed", { incarnation: box.incarnation }), [value]);
      await store.commit({ dropReview: { ...drop, incarnation: box.incarnation }, events: [] });
      assert.deepEqual(await store.listReview("removed", {}), []);
    },
  },
  {
    name: "removing a box that is gone succeeds",
    async run(open) {
      await using store = await open();
      await store.commit({ remove: { name: "gone" }, events: [] });
    },
  },
];

const eventCases: readonly StoreCase[] = [
  {
    name: "events are numbered from 1 without holes, in the order of commits",
    async run(open) {
      await using store = await open();
      const first = await store.commit({
        events: [sampleEvent("daemon.started"), sampleEvent("box.created", "one")],
      });
      const second = await store.commit({
        events: [sampleEvent("box.started", "one", { pid: 7, list: [1, null] })],
      });
      assert.deepEqual(
        [...first, ...second].map((event) => event.id),
        [1, 2, 3],
      );
      assert.deepEqual(await store.listEvents({ limit: 10 }), [...first, ...second]);
      assert.equal(await store.lastEventId(), 3);
      assert.deepEqual(second[0]!.data, { pid: 7, list: [1, null] });
      assert.equal("box" in first[0]!, false);
    },
  },
  {
    name: "commits at the same time get different numbers and no holes",
    async run(open) {
      await using store = await open();
      const names = Array.from({ length: 50 }, (_, i) => `box-${i}`);
      await Promise.all(
        names.map((name) =>
          store.commit({ insert: sampleBox(name), events: [sampleEvent("box.created", name)] }),
        ),
      );
      const ids = (await store.listEvents({ limit: 100 })).map((event) => event.id);
      assert.deepEqual(
        ids,
        names.map((_, i) => i + 1),
      );
    },
  },
  {
    name: "a commit that fails leaves nothing: no box, no trust, no event, no hole",
    async run(open) {
      await using store = await open();
      await store.commit({ insert: sampleBox("one"), events: [sampleEvent("box.created", "one")] });
      const failing = {
        remove: { name: "one" },
        insert: sampleBox("two"),
        update: sampleBox("gone"),
        trust: sampleTrust("/p", "d"),
        events: [sampleEvent("box.created", "two")],
      };
      await assert.rejects(store.commit(failing), hasCode("box.not_found"));
      const circular: Record<string, unknown> = {};
      circular["self"] = circular;
      const unstorable = { insert: sampleBox("two"), events: [sampleEvent("box.created", "two", circular)] };
      await assert.rejects(store.commit(unstorable));
      assert.deepEqual(
        (await store.listBoxes()).map((box) => box.name),
        ["one"],
      );
      assert.deepEqual(await store.listTrust(), []);
      assert.equal(await store.lastEventId(), 1);
      const [next] = await store.commit({ events: [sampleEvent("box.removed", "one")] });
      assert.equal(next!.id, 2);
    },
  },
  {
    name: "events are filtered by number, box and type, and limited from either end",
    async run(open) {
      await using store = await open();
      for (const [type, box] of [
        ["box.created", "one"],
        ["box.created", "two"],
        ["box.started", "one"],
        ["box.started", "two"],
        ["box.stopped", "one"],
      ] as const) {
        await store.commit({ events: [sampleEvent(type, box)] });
      }
      const ids = async (query: Parameters<Store["listEvents"]>[0]) =>
        (await store.listEvents(query)).map((event) => event.id);
      assert.deepEqual(await ids({ limit: 2 }), [1, 2]);
      assert.deepEqual(await ids({ limit: 2, newestFirst: true }), [5, 4]);
      assert.deepEqual(await ids({ limit: 10, after: 3 }), [4, 5]);
      assert.deepEqual(await ids({ limit: 10, after: 5 }), []);
      assert.deepEqual(await ids({ limit: 10, box: "one" }), [1, 3, 5]);
      assert.deepEqual(await ids({ limit: 10, type: "box.started" }), [3, 4]);
      assert.deepEqual(await ids({ limit: 10, type: "box.started", box: "two", after: 2 }), [4]);
      assert.deepEqual(await ids({ limit: 1, after: 1, box: "one", newestFirst: true }), [5]);
      assert.deepEqual(await ids({ limit: 10, before: 4, newestFirst: true }), [3, 2, 1]);
      assert.deepEqual(await ids({ limit: 1, before: 5, box: "one", newestFirst: true }), [3]);
      assert.deepEqual(await ids({ limit: 10, after: 1, before: 3 }), [2]);
      assert.deepEqual(await ids({ limit: 10, before: 1 }), []);
    },
  },
];

const trustCases: readonly StoreCase[] = [
  {
    name: "trust is kept per project and digest",
    async run(open) {
      await using store = await open();
      await store.commit({ trust: sampleTrust("/p", "d1"), events: [sampleEvent("trust.granted")] });
      await store.commit({ trust: sampleTrust("/p", "d2"), events: [] });
      await store.commit({ trust: sampleTrust("/q", "d1"), events: [] });
      assert.deepEqual(await store.findTrust("/p", "d1"), sampleTrust("/p", "d1"));
      assert.equal(await store.findTrust("/q", "d2"), undefined);
      assert.deepEqual(
        (await store.listTrust()).map(({ projectDir, digest }) => `${projectDir} ${digest}`),
        ["/p d1", "/p d2", "/q d1"],
      );
    },
  },
  {
    name: "trust is taken back by digest, or for the whole project, and can be given again",
    async run(open) {
      await using store = await open();
      for (const digest of ["d1", "d2", "d3"])
        await store.commit({ trust: sampleTrust("/p", digest), events: [] });
      await store.commit({ trust: sampleTrust("/q", "d1"), events: [] });
      await store.commit({ untrust: { projectDir: "/p", digest: "d1" }, events: [] });
      assert.equal(await store.findTrust("/p", "d1"), undefined);
      assert.notEqual(await store.findTrust("/p", "d2"), undefined);
      await store.commit({ untrust: { projectDir: "/p" }, events: [] });
      assert.deepEqual(
        (await store.listTrust()).map((record) => record.projectDir),
        ["/q"],
      );
      await store.commit({ trust: { ...sampleTrust("/q", "d1"), grantedAtMs: 9 }, events: [] });
      assert.equal((await store.findTrust("/q", "d1"))!.grantedAtMs, 9);
    },
  },
];

const sampleRule = (id: string): NetworkRule => ({
  id,
  origin: { layer: "approval" },
  mode: "allow",
  host: { name: "example.org", isWildcard: false },
  ports: [443],
  methods: [],
  paths: [],
  inspect: false,
});

const networkCases: readonly StoreCase[] = [
  {
    name: "a grant belongs to its project, and one of the same id replaces it",
    async run(open) {
      await using store = await open();
      await store.commit({ grant: { projectDir: "/p", rule: sampleRule("approval:1") }, events: [] });
      await store.commit({ grant: { projectDir: "/p", rule: sampleRule("approval:2") }, events: [] });
      const changed = { ...sampleRule("approval:1"), ports: [80] };
      await store.commit({ grant: { projectDir: "/p", rule: changed }, events: [] });
      assert.deepEqual(await store.listGrants("/p"), [changed, sampleRule("approval:2")]);
      assert.deepEqual(await store.listGrants("/q"), []);
    },
  },
  {
    name: "decisions of the gate are kept in order and found by box, host and verdict",
    async run(open) {
      await using store = await open();
      await store.recordEgress([
        sampleEgress("one", "a.test", "allow"),
        sampleEgress("two", "b.test", "deny"),
      ]);
      await store.recordEgress([sampleEgress("one", "b.test", "deny")]);
      const ids = async (query: Omit<EgressQuery, "limit">) =>
        (await store.listEgress({ limit: 10, ...query })).map(({ id }) => id);
      assert.deepEqual(await ids({}), [1, 2, 3]);
      assert.deepEqual(await ids({ newestFirst: true }), [3, 2, 1]);
      assert.deepEqual(await ids({ after: 1 }), [2, 3]);
      assert.deepEqual(await ids({ box: "one" }), [1, 3]);
      assert.deepEqual(await ids({ host: "b.test" }), [2, 3]);
      assert.deepEqual(await ids({ verdict: "deny", box: "two" }), [2]);
      assert.deepEqual((await store.listEgress({ limit: 1 }))[0], {
        id: 1,
        ...sampleEgress("one", "a.test", "allow"),
      });
    },
  },
  {
    name: "a flood of denials pushes out nothing but denials of the same box",
    async run(open) {
      await using store = await open();
      await store.recordEgress([
        sampleEgress("one", "a.test", "allow"),
        sampleEgress("two", "a.test", "deny"),
      ]);
      const flood = Array.from({ length: 5_000 }, () => sampleEgress("one", "b.test", "deny"));
      for (let n = 0; n < 5; n++) await store.recordEgress(flood);
      const count = async (query: Omit<EgressQuery, "limit">) =>
        (await store.listEgress({ limit: 100_000, ...query })).length;
      assert.equal(await count({ box: "one", verdict: "allow" }), 1);
      assert.equal(await count({ box: "two" }), 1);
      assert.equal(await count({ box: "one", verdict: "deny" }), 20_000);
      // The sums are of the whole life of the box.
      const [sum] = (await store.sumEgress("one", "i")).filter(({ host }) => host === "b.test");
      const { denials, bytesOut, bytesIn } = sum!;
      assert.deepEqual(
        { denials, bytesOut, bytesIn },
        { denials: 25_000, bytesOut: 25_000, bytesIn: 50_000 },
      );
    },
  },
  {
    name: "sums of the gate's decisions are of one box, by host, with those beyond a bound together",
    async run(open) {
      await using store = await open();
      const allowed = sampleEgress("one", "a.test", "allow");
      await store.recordEgress([
        { ...allowed, secret: "code", isInjected: true },
        { ...sampleEgress("one", "a.test", "deny"), atMs: 5, reason: "wrong_path", count: 3 },
        sampleEgress("two", "a.test", "allow"),
      ]);
      await store.recordEgress([{ ...allowed, secret: "code", isInjected: true }]);
      const sum = {
        host: "a.test",
        port: 443,
        requests: 2,
        denials: 3,
        bytesOut: 3,
        bytesIn: 6,
        lastAtMs: 5,
      };
      assert.deepEqual(await store.sumEgress("one", "i"), [
        { ...sum, lastReason: "wrong_path", secrets: { code: 2 } },
      ]);
      await store.recordEgress(
        Array.from({ length: 1_500 }, (_, n) => sampleEgress("one", `${n}.test`, "deny")),
      );
      const many = await store.sumEgress("one", "i");
      assert.equal(many.length, 1_001);
      assert.equal(many.find(({ host }) => host === "(other)")?.denials, 501);
      // The next box of the name begins at nothing.
      await store.recordEgress([{ ...allowed, incarnation: "j" }]);
      assert.equal((await store.sumEgress("one", "j")).length, 1);
      assert.deepEqual(await store.sumEgress("one", "i"), []);
      assert.equal((await store.sumEgress("two", "i")).length, 1);
    },
  },
];

const queueCases: readonly StoreCase[] = [
  {
    name: "entries of the queue replace those of the same key, and go by it",
    async run(open) {
      await using store = await open();
      const task = (id: number, text: string): TaskRecord => ({
        kind: "task",
        id,
        queue: "",
        order: id,
        by: { holder: { kind: "owner" }, credential: "socket", mayOrder: true },
        request: { flags: { agent: { name: "shell" } } },
        task: text,
        agent: "shell",
        state: "waiting",
        addedAtMs: 1,
      });
      const settings: QueueEntry = { kind: "queue", queue: "", atOnce: 2, isPaused: false, lastId: 2 };
      assert.deepEqual(await store.listQueue(), []);
      await store.commit({ queue: [task(1, "one"), task(2, "two"), settings], events: [] });
      await store.commit({ queue: [task(2, "again")], unqueue: [queueKey(task(1, ""))], events: [] });
      const left = [...(await store.listQueue())].sort((a, b) => (queueKey(a) < queueKey(b) ? -1 : 1));
      assert.deepEqual(left, [settings, task(2, "again")]);
    },
  },
];

export const storeCases: readonly StoreCase[] = [
  ...boxCases,
  ...eventCases,
  ...trustCases,
  ...networkCases,
  ...usageCases,
  ...secretCases,
  ...queueCases,
];
