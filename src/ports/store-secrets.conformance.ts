/**
 * The duties of every store for the vault: grants, receipts that nothing pushes out, and a log that shows tampering.
 */
import assert from "node:assert/strict";
import type { NewEgressRecord } from "../contract/network/egress.ts";
import type { GrantScope, SecretGrant } from "../contract/secret/grant.ts";
import { type StoreCase, sampleBox, sampleEgress, sampleEvent } from "./store-samples.ts";
import type { EgressQuery, Store } from "./store.ts";

const boxScope = (box: string, incarnation = `${box}-first`): GrantScope => ({
  kind: "box",
  box,
  incarnation,
});
const projectScope: GrantScope = { kind: "project", projectDir: "/p" };
const agentScope: GrantScope = { kind: "agent", agent: "claude" };

const sampleGrant = (secret: string, scope: GrantScope, use = "sha256:a"): SecretGrant => ({
  secret,
  scope,
  use,
  sentence: `use ${secret}`,
  grantedAtMs: 3,
});

const grantAll = async (store: Store, grants: readonly SecretGrant[]): Promise<void> => {
  for (const grantSecret of grants) await store.commit({ grantSecret, events: [] });
};

const kindsOf = async (store: Store, secret?: string): Promise<string[]> =>
  (await store.listSecretGrants(secret)).map((grant) => `${grant.secret} ${grant.scope.kind} ${grant.use}`);

const grantCases: readonly StoreCase[] = [
  {
    name: "a grant of a secret is kept for each scope and use, and one like it replaces it",
    async run(open) {
      await using store = await open();
      assert.deepEqual(await store.listSecretGrants(), []);
      const first = sampleGrant("github", projectScope);
      await grantAll(store, [
        sampleGrant("npm", projectScope),
        first,
        sampleGrant("github", projectScope, "sha256:b"),
        sampleGrant("github", agentScope),
      ]);
      const again: SecretGrant = { ...first, grantedAtMs: 9, expiresAtMs: 10 };
      await grantAll(store, [again]);
      assert.deepEqual(await kindsOf(store), [
        "github agent sha256:a",
        "github project sha256:a",
        "github project sha256:b",
        "npm project sha256:a",
      ]);
      assert.deepEqual((await store.listSecretGrants("github"))[1], again);
      assert.deepEqual(await kindsOf(store, "npm"), ["npm project sha256:a"]);
    },
  },
  {
    name: "grants are taken back for one scope, or all of a secret",
    async run(open) {
      await using store = await open();
      await grantAll(store, [
        sampleGrant("github", projectScope),
        sampleGrant("github", projectScope, "sha256:b"),
        sampleGrant("github", { kind: "project", projectDir: "/q" }),
        sampleGrant("github", agentScope),
        sampleGrant("npm", projectScope),
      ]);
      // The order of its keys is not what a scope is.
      const scope: GrantScope = { projectDir: "/p", kind: "project" };
      await store.commit({ revokeSecret: { secret: "github", scope }, events: [] });
      assert.deepEqual(await kindsOf(store, "github"), ["github agent sha256:a", "github project sha256:a"]);
      await store.commit({ revokeSecret: { secret: "github" }, events: [] });
      assert.deepEqual(await kindsOf(store), ["npm project sha256:a"]);
    },
  },
  {
    name: "a box's grants go with the box, and those of others stay",
    async run(open) {
      await using store = await open();
      await store.commit({ insert: sampleBox("one"), events: [] });
      await grantAll(store, [
        sampleGrant("github", boxScope("one")),
        sampleGrant("github", boxScope("two")),
        sampleGrant("github", projectScope),
      ]);
      await store.commit({ remove: { name: "one" }, events: [] });
      const left = await store.listSecretGrants("github");
      assert.deepEqual(
        left.map(({ scope }) => scope),
        [boxScope("two"), projectScope],
      );
    },
  },
  {
    name: "a commit that fails grants nothing and takes nothing back",
    async run(open) {
      await using store = await open();
      await grantAll(store, [sampleGrant("github", agentScope)]);
      const failing = {
        update: sampleBox("gone"),
        revokeSecret: { secret: "github" },
        grantSecret: sampleGrant("npm", agentScope),
        events: [],
      };
      await assert.rejects(store.commit(failing));
      assert.deepEqual(await kindsOf(store), ["github agent sha256:a"]);
    },
  },
];

const receipt = (secret: string, verdict: "allow" | "deny"): NewEgressRecord => ({
  ...sampleEgress("one", "api.test", verdict),
  secret,
  isInjected: verdict === "allow",
});

const receiptCases: readonly StoreCase[] = [
  {
    name: "decisions about secrets are found by the secret, or by being about any",
    async run(open) {
      await using store = await open();
      await store.recordEgress([
        sampleEgress("one", "a.test", "allow"),
        receipt("github", "allow"),
        receipt("npm", "deny"),
        receipt("github", "deny"),
      ]);
      const ids = async (query: Omit<EgressQuery, "limit">) =>
        (await store.listEgress({ limit: 10, ...query })).map(({ id }) => id);
      assert.deepEqual(await ids({}), [1, 2, 3, 4]);
      assert.deepEqual(await ids({ secret: true }), [2, 3, 4]);
      assert.deepEqual(await ids({ secret: "github" }), [2, 4]);
      assert.deepEqual(await ids({ secret: "github", verdict: "deny" }), [4]);
      assert.deepEqual(await ids({ secret: true, newestFirst: true, after: 2 }), [4, 3]);
      assert.deepEqual(await ids({ secret: "other" }), []);
      const [first] = await store.listEgress({ secret: "github", limit: 1 });
      assert.deepEqual(first, { id: 2, ...receipt("github", "allow") });
    },
  },
  {
    name: "no flood pushes out what is recorded about a secret, but a flood about the same",
    async run(open) {
      await using store = await open();
      await store.recordEgress([
        receipt("github", "deny"),
        receipt("github", "allow"),
        receipt("npm", "deny"),
      ]);
      const count = async (query: Omit<EgressQuery, "limit">) =>
        (await store.listEgress({ limit: 100_000, ...query })).length;
      for (const one of [sampleEgress("one", "b.test", "deny"), receipt("npm", "deny")]) {
        const flood = Array.from({ length: 5_001 }, () => one);
        for (let n = 0; n < 4; n++) await store.recordEgress(flood);
      }
      assert.equal(await count({ secret: "github", verdict: "deny" }), 1);
      assert.equal(await count({ secret: "github", verdict: "allow" }), 1);
      assert.equal(await count({ secret: "npm" }), 20_000);
      assert.equal(await count({ verdict: "deny" }), 40_001);
    },
  },
];

const chainCases: readonly StoreCase[] = [
  {
    name: "the log verifies, and its head changes with every event",
    async run(open) {
      await using store = await open();
      assert.deepEqual(await store.verifyEvents(), { events: 0, head: "" });
      const heads = new Set<string>();
      const odd = {
        text: "\u{1f4e6} \u2028 \ud800",
        list: [undefined, -0, 1e300],
        nested: { b: 1, a: undefined },
      };
      for (const data of [{}, odd, odd]) {
        await store.commit({
          events: [sampleEvent("box.created", "one", data), sampleEvent("daemon.started")],
        });
        const { head, brokenAt } = await store.verifyEvents();
        assert.equal(brokenAt, undefined);
        assert.match(head, /^[0-9a-f]{64}$/);
        heads.add(head);
      }
      assert.equal(heads.size, 3);
      assert.equal((await store.verifyEvents()).events, 6);
    },
  },
  {
    name: "the log verifies against what was noted of it before, and not against anything else",
    async run(open) {
      await using store = await open();
      const add = () => store.commit({ events: [sampleEvent("daemon.started")] });
      await add();
      const { events: id, head } = await store.verifyEvents();
      await add();
      const whole = await store.verifyEvents();
      assert.deepEqual(await store.verifyEvents({ id, head }), whole);
      assert.deepEqual(await store.verifyEvents({ id: 0, head: "" }), whole);
      assert.equal((await store.verifyEvents({ id, head: whole.head })).brokenAt, id);
      // It has lost its end: the first that is missing.
      assert.equal((await store.verifyEvents({ id: 9, head: whole.head })).brokenAt, 3);
    },
  },
  {
    name: "commits at the same time make one chain",
    async run(open) {
      await using store = await open();
      const names = Array.from({ length: 30 }, (_, i) => `box-${i}`);
      await Promise.all(names.map((name) => store.commit({ events: [sampleEvent("box.created", name)] })));
      const { events, brokenAt } = await store.verifyEvents();
      assert.deepEqual({ events, brokenAt }, { events: 30, brokenAt: undefined });
    },
  },
];

export const secretCases: readonly StoreCase[] = [...grantCases, ...receiptCases, ...chainCases];
