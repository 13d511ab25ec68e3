import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../src/base/wait-for.ts";
import type { Core } from "../src/core/context.ts";
import { allowEgress } from "../src/core/network/allow-egress.ts";
import { effectivePolicy } from "../src/core/network/apply-policy.ts";
import { decideEgress } from "../src/core/policy/decide-egress.ts";
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
