import { describe, expect, it } from "vitest";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { BoxEvent } from "../../../src/contract/events.ts";
import { noticeOf } from "../../../src/contract/notices.ts";
import { parseChoice } from "./choice.ts";
import { tellOnce } from "./tell-once.ts";
import { titleWith } from "./notice-words.ts";

const event = (
  type: BoxEvent["type"],
  data: BoxEvent["data"] = {},
  box: string | undefined = "shop",
): BoxEvent => ({
  id: 7,
  atMs: 0,
  type,
  ...omitUndefined({ box }),
  data,
});

/** Tabs of one browser: one storage, and one at a time under the lock. */
function browser() {
  const kept = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    storage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    },
    locks: {
      request(_name: string, body: () => Promise<boolean>) {
        const turn = last.then(body);
        last = turn;
        return turn;
      },
    },
  };
}

describe("what is said", () => {
  it.each([
    ["approval.asked", { host: "a.test" }, "waits", "shop asks"],
    ["approval.asked", { host: "a.test", secret: "key" }, "waits", "shop asks"],
    ["agent.state_changed", { to: "waiting" }, "waits", "shop waits for you"],
    ["agent.state_changed", { to: "stuck" }, "waits", "shop is stuck"],
    ["budget.exhausted", {}, "budget", "shop is out of budget"],
    ["box.failed", { message: "no" }, "failed", "shop failed"],
    ["agent.ended", { verdict: "done", why: "ok" }, "done", "shop is done"],
    ["agent.ended", { verdict: "gave_up", why: "no" }, "failed", "shop: gave up"],
  ] as const)("%s %j is %s", (type, data, kind, title) => {
    expect(noticeOf(event(type, data))).toMatchObject({ kind, title, key: "event-7" });
  });

  it.each([
    event("agent.state_changed", { to: "working" }),
    event("agent.state_changed", { to: "done" }),
    event("agent.event", { kind: "message" }),
    event("approval.answered", { outcome: "allow" }),
    event("agent.ended", { verdict: "interrupted", why: "Its box was stopped." }),
    event("agent.ended", { verdict: "out_of_budget", why: "A budget was used up." }),
    { ...event("daemon.started"), box: undefined } as unknown as BoxEvent,
  ])("nothing about $type $data", (other) => expect(noticeOf(other)).toBeUndefined());

  it("leaves out what a box hides in its words", () => {
    const said = noticeOf(event("box.failed", { message: `a\u202eb${"x".repeat(1_000)}` }));
    expect(said?.body).toContain("a b");
    expect(said?.body.length).toBeLessThan(200);
  });
});

describe("once", () => {
  it("is said by one of many tabs, and not again after a reconnect or a reload", async () => {
    const { storage, locks } = browser();
    let spoken = 0;
    const say = (key: string) => tellOnce(key, () => void (spoken += 1), storage, locks);
    const said = await Promise.all(Array.from({ length: 5 }, () => say("event-1")));
    expect(said.filter(Boolean)).toHaveLength(1);
    expect(await say("event-1")).toBe(false);
    expect(await say("event-2")).toBe(true);
    expect(spoken).toBe(2);
  });

  it("remembers a bounded number, the latest", async () => {
    const { storage, locks } = browser();
    for (let id = 0; id < 300; id += 1) await tellOnce(`event-${id}`, () => undefined, storage, locks);
    expect(await tellOnce("event-299", () => undefined, storage, locks)).toBe(false);
    expect(JSON.parse(storage.getItem("agentbox-notices-told") ?? "")).toHaveLength(200);
  });

  it("goes on after somebody else wrote into its place", async () => {
    const { storage, locks } = browser();
    storage.setItem("agentbox-notices-told", "{not json");
    expect(await tellOnce("event-1", () => undefined, storage, locks)).toBe(true);
    expect(await tellOnce("event-1", () => undefined, storage, locks)).toBe(false);
  });
});

it("tells nothing until it was chosen", () => {
  const none = { waits: false, done: false, failed: false, budget: false };
  expect(parseChoice(null)).toEqual(none);
  expect(parseChoice("waits")).toEqual({ ...none, waits: true });
  expect(parseChoice("waits done __proto__")).toEqual({ ...none, waits: true, done: true });
});

it.each([
  ["AgentBox", 0, "AgentBox"],
  ["AgentBox", 2, "(2) AgentBox"],
  ["(2) shop · AgentBox", 3, "(3) shop · AgentBox"],
  ["(99+) AgentBox", 0, "AgentBox"],
  ["AgentBox", 1_000, "(99+) AgentBox"],
])("the title %s with %i waiting is %s", (title, waiting, expected) =>
  expect(titleWith(title, waiting)).toBe(expected),
);
