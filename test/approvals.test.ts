import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Core } from "../src/core/context.ts";
import type { ApprovalRequest } from "../src/ports/gate.ts";
import { createOn, eventTypes, openTestCore, openTestHost, type TestHost } from "./support/core.ts";
import { waitFor } from "./support/wait-for.ts";

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
});
