import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../src/base/wait-for.ts";
import type { Core } from "../src/core/context.ts";
import { allowEgress } from "../src/core/network/allow-egress.ts";
import { effectivePolicy } from "../src/core/network/apply-policy.ts";
import { decideEgress } from "../src/core/policy/decide-egress.ts";
import { removeBox } from "../src/core/removal/remove-box.ts";
import type { Approval } from "../src/contract/network/egress.ts";
import type { ApprovalRequest } from "../src/ports/gate.ts";
import { createOn, eventTypes, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
/** Waits that the approvals asked for; a test lets them pass. */
let timers: (() => void)[];
beforeEach(async () => {
  host = await openTestHost();
  timers = [];
  core = await openTestCore(host);
  const { after } = host.clock;
  host.clock.after = (ms, callback) => {
    if (ms < 30_000) return after(ms, callback);
    timers.push(callback);
    return () => undefined;
  };
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const never = new AbortController().signal;
const request = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  box: { name: "a-box", incarnation: "i" },
  host: "example.test",
  port: 443,
  ...more,
});

describe("a question to a person", () => {
  it("is a no when nobody answers in time", async () => {
    const asked = core.approvals.ask(request(), never);
    expect(core.approvals.list()).toHaveLength(1);
    for (const timer of timers) timer();
    expect(await asked).toBe(false);
    expect(core.approvals.list()).toEqual([]);
    await waitFor("both are in the log", async () => (await eventTypes(core)).includes("approval.answered"));
  });

  it("is one question for whoever asks the same, and names what a yes allows", async () => {
    const both = [core.approvals.ask(request(), never), core.approvals.ask(request(), never)];
    const other = core.approvals.ask(request({ method: "POST", path: "/x" }), never);
    const [first, second] = core.approvals.list();
    expect([first!.sentence, second!.sentence]).toEqual([
      "Let the box a-box reach example.test on port 443.",
      "Let the box a-box POST example.test:443/x.",
    ]);
    await core.approvals.answer(first!.id, { answer: "allow", scope: "once" });
    expect(await Promise.all(both)).toEqual([true, true]);
    await core.approvals.answer(second!.id, { answer: "deny", scope: "once" });
    expect(await other).toBe(false);
    await expect(core.approvals.answer(first!.id, { answer: "allow", scope: "once" })).rejects.toMatchObject({
      code: "approval.not_found",
    });
  });

  it("is withdrawn when nobody waits for it any more, so that a late yes allows nothing", async () => {
    const leaving = new AbortController();
    const asked = core.approvals.ask(request(), leaving.signal);
    leaving.abort();
    expect(await asked).toBe(false);
    expect(core.approvals.list()).toEqual([]);
    expect(await core.approvals.ask(request(), leaving.signal)).toBe(false);
    expect(core.approvals.list()).toEqual([]);
  });

  it("is not asked for ever: a box has a bounded number of open ones", async () => {
    const asked = Array.from({ length: 40 }, (_, n) => core.approvals.ask(request({ port: n + 1 }), never));
    expect(core.approvals.list().length).toBe(32);
    expect(await Promise.all(asked.slice(32))).toEqual(Array.from({ length: 8 }, () => false));
  });

  it("remembers a yes for the box as a rule for exactly that, with an end", async () => {
    const { box } = await createOn(core, { name: "a-box" });
    const asked = core.approvals.ask(request({ box, method: "POST", path: "/x" }), never);
    const [{ id } = { id: 0 }] = core.approvals.list();
    await core.approvals.answer(id, { answer: "allow", scope: "box", ttlMs: 60_000 });
    expect(await asked).toBe(true);
    const rule = (await core.getBox("a-box")).network?.rules.at(-1);
    expect(rule).toMatchObject({ methods: ["POST"], paths: ["/x"], ports: [443], mode: "allow" });
    expect(rule?.expiresAtMs).toBeGreaterThan(host.clock.nowMs());
  });

  it("takes a yes for what was looked at, and for nothing that has come in its place", async () => {
    const asked = core.approvals.ask(request({ method: "GET", path: "/harmless" }), never);
    const [seen] = core.approvals.list();
    const yes = { answer: "allow", scope: "once" } as const;
    // Another box, host, port, method, path or use is another question, even under the same number.
    const others: Partial<ApprovalRequest>[] = [
      { box: { name: "a-box", incarnation: "j" }, method: "GET", path: "/harmless" },
      { host: "evil.test", method: "GET", path: "/harmless" },
      { port: 80, method: "GET", path: "/harmless" },
      { method: "POST", path: "/harmless" },
      { method: "GET", path: "/harmful" },
      {},
    ];
    for (const other of others) {
      const waiting = core.approvals.ask(request(other), never);
      const shown = core.approvals.list().at(-1)!;
      expect(shown.digest).not.toBe(seen!.digest);
      await expect(
        core.approvals.answer(shown.id, { ...yes, digest: seen!.digest }),
        JSON.stringify(other),
      ).rejects.toMatchObject({ code: "approval.changed" });
      expect(core.approvals.list()).toContainEqual(shown);
      await core.approvals.answer(shown.id, { answer: "deny", scope: "once", digest: shown.digest });
      expect(await waiting).toBe(false);
    }
    // The control: the question that was looked at.
    await core.approvals.answer(seen!.id, { ...yes, digest: seen!.digest });
    expect(await asked).toBe(true);
  });
});

describe("a question that ended without an answer", () => {
  const expire = () => timers.splice(0).forEach((timer) => timer());
  async function missed(more: Partial<ApprovalRequest> = {}) {
    const asked = core.approvals.ask(request(more), never);
    expire();
    expect(await asked).toBe(false);
    return core.approvals.listMissed()[0]!;
  }

  it("stays, also when the program gave up, and a yes allows exactly that from now on", async () => {
    const { box } = await createOn(core, { name: "a-box" });
    const leaving = new AbortController();
    const asked = core.approvals.ask(request({ box, method: "POST", path: "/x" }), leaving.signal);
    leaving.abort();
    expect(await asked).toBe(false);
    const [question] = core.approvals.listMissed();
    expect(question).toMatchObject({ box: "a-box", host: "example.test", times: 1 });
    const { id, digest } = question!;
    await core.approvals.answer(id, { answer: "allow", scope: "box", ttlMs: 60_000, digest });
    const rule = (await core.getBox("a-box")).network?.rules.at(-1);
    expect(rule).toMatchObject({ methods: ["POST"], paths: ["/x"], ports: [443], mode: "allow" });
    expect(rule?.expiresAtMs).toBeGreaterThan(host.clock.nowMs());
    expect(rule?.expiresAtMs).toBeLessThanOrEqual(host.clock.nowMs() + 60_000);
    expect(core.approvals.listMissed()).toEqual([]);
    await waitFor("the late answer is in the log", async () => {
      const [event] = await core.ports.store.listEvents({
        type: "approval.answered",
        limit: 1,
        newestFirst: true,
      });
      return event?.data["late"] === true && event.data["outcome"] === "allow";
    });
  });

  it("takes no yes for once, none without its digest, and none with another", async () => {
    const { box } = await createOn(core, { name: "a-box" });
    const { id, digest } = await missed({ box });
    const before = (await core.getBox("a-box")).network;
    const refusals = [
      [{ answer: "allow", scope: "once", digest }, "approval.not_found"],
      [{ answer: "allow", scope: "box" }, "approval.not_found"],
      [{ answer: "allow", scope: "box", digest: "sha256:0" }, "approval.changed"],
    ] as const;
    for (const [answer, code] of refusals)
      await expect(core.approvals.answer(id, answer), code).rejects.toMatchObject({ code });
    expect((await core.getBox("a-box")).network).toEqual(before);
    expect(core.approvals.listMissed()).toHaveLength(1);
    // The control: what was shown.
    await core.approvals.answer(id, { answer: "allow", scope: "box", digest });
    expect((await core.getBox("a-box")).network?.rules.at(-1)).toMatchObject({ mode: "allow" });
  });

  it("is one entry however often it is missed, and is gone when the open one is answered", async () => {
    await missed();
    expect(await missed()).toMatchObject({ times: 2 });
    expect(core.approvals.listMissed()).toHaveLength(1);
    const asked = core.approvals.ask(request(), never);
    await core.approvals.answer(core.approvals.list()[0]!.id, { answer: "deny", scope: "once" });
    expect(await asked).toBe(false);
    expect(core.approvals.listMissed()).toEqual([]);
  });

  it("is kept in a bounded number for each box, the newest", async () => {
    for (let port = 1; port <= 20; port += 1) await missed({ port });
    const other = { name: "b-box", incarnation: "j" };
    await missed({ box: other });
    const kept = core.approvals.listMissed();
    expect(kept.filter(({ box }) => box === "a-box").map(({ port }) => port)).toEqual(
      Array.from({ length: 16 }, (_, n) => 20 - n),
    );
    expect(kept.filter(({ box }) => box === "b-box")).toHaveLength(1);
  });

  it("is not kept where a later yes would be wider: each time anew, or a pattern", async () => {
    const secret = { name: "key", use: "sha256:u", sentence: "sign in", isOnce: true };
    expect(await missed({ secret })).toBeUndefined();
    expect(await missed({ method: "GET", path: "/a/*" })).toBeUndefined();
  });

  it("ends with its box, and holds for no later box of that name", async () => {
    const { box } = await createOn(core, { name: "a-box" });
    const { id, digest } = await missed({ box });
    await removeBox(core, "a-box", { force: true });
    expect(core.approvals.listMissed()).toEqual([]);
    await createOn(core, { name: "a-box" });
    const yes = { answer: "allow", scope: "box", digest } as const;
    await expect(core.approvals.answer(id, yes)).rejects.toMatchObject({ code: "approval.not_found" });
    // Missed by an earlier life of the name, as when the removal and the end of the question cross.
    const stray = await missed({ box: { name: "a-box", incarnation: "earlier" } });
    await expect(core.approvals.answer(stray.id, { ...yes, digest: stray.digest })).rejects.toMatchObject({
      code: "approval.not_found",
    });
    expect((await core.getBox("a-box")).network?.rules ?? []).toEqual([]);
  });
});

describe("how long a question waits", () => {
  it.each([
    [undefined, 300_000],
    ["90s", 90_000],
    ["1s", 10_000],
    ["5d", 3_600_000],
  ])("%s in the config is %i ms", async (wait, ms) => {
    const text = wait === undefined ? "" : `[approvals]\nwait = "${wait}"\n`;
    Object.assign(core.ports.host, { readUserConfig: async () => ({ file: "/config.toml", text }) });
    const asked = core.approvals.askAsConfigured(request(), never);
    await waitFor("it is asked", () => core.approvals.list().length === 1);
    const [{ expiresAtMs, askedAtMs, id }] = core.approvals.list() as [Approval];
    expect(expiresAtMs - askedAtMs).toBe(ms);
    await core.approvals.answer(id, { answer: "deny", scope: "once" });
    expect(await asked).toBe(false);
  });
});

describe("a yes to what was denied before", () => {
  const verdictOf = async (name: string, wish: { host: string; method?: string; path?: string }) => {
    const policy = await effectivePolicy(core, await core.getBox(name));
    return decideEgress(policy, { port: 443, ...wish }, { nowMs: host.clock.nowMs() }).outcome;
  };

  it("opens exactly that for the box, with an end, and is in the log", async () => {
    await createOn(core, { name: "a-box" });
    await createOn(core, { name: "b-box" });
    const wish = { host: "Example.Test.", port: 443, method: "GET", path: "/x?token=1" };
    expect(await verdictOf("a-box", { host: "example.test", method: "GET", path: "/x" })).toBe("deny");
    await allowEgress(core, "a-box", { ...wish, scope: "box", ttlMs: 60_000 });
    expect(await verdictOf("a-box", { host: "example.test", method: "GET", path: "/x" })).toBe("allow");
    expect(await verdictOf("a-box", { host: "example.test", method: "GET", path: "/y" })).toBe("deny");
    expect(await verdictOf("a-box", { host: "example.test", method: "POST", path: "/x" })).toBe("deny");
    expect(await verdictOf("a-box", { host: "other.test", method: "GET", path: "/x" })).toBe("deny");
    expect(await verdictOf("b-box", { host: "example.test", method: "GET", path: "/x" })).toBe("deny");
    const rule = (await core.getBox("a-box")).network?.rules.at(-1);
    expect(rule?.expiresAtMs).toBeGreaterThan(host.clock.nowMs());
    expect(rule?.expiresAtMs).toBeLessThanOrEqual(host.clock.nowMs() + 60_000);
    const [event] = await core.ports.store.listEvents({
      type: "policy.changed",
      limit: 1,
      newestFirst: true,
    });
    expect(event).toMatchObject({ box: "a-box", data: { rule: "approval:example.test:443:GET/x" } });
  });

  it.each([
    ["an address", { host: "93.184.216.34", port: 443 }, "policy.invalid"],
    ["the host itself", { host: "127.0.0.1", port: 443 }, "policy.invalid"],
    ["a reserved name", { host: "printer.local", port: 443 }, "policy.invalid"],
    ["no host", { host: "a b", port: 443 }, "input.invalid"],
    ["a pattern", { host: "*.example.test", port: 443 }, "input.invalid"],
    ["a pattern of paths", { host: "example.test", port: 443, path: "/**" }, "input.invalid"],
    ["a path with two readings", { host: "example.test", port: 443, path: "/a/../b" }, "input.invalid"],
    [
      "a project of a box without one",
      { host: "example.test", port: 443, scope: "project" },
      "input.invalid",
    ],
  ] as const)("leaves no rule behind for %s", async (_, wish, code) => {
    const { box } = await createOn(core, { name: "a-box" });
    await expect(allowEgress(core, box.name, { scope: "box", ...wish })).rejects.toMatchObject({ code });
    expect((await core.getBox("a-box")).network).toEqual(box.network);
    expect(await eventTypes(core)).not.toContain("policy.changed");
  });
});
