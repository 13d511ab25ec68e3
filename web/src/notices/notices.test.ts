import { describe, expect, it } from "vitest";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { BoxEvent } from "../../../src/contract/events.ts";
import { parseChoice } from "./choice.ts";
import { noticeOf, titleWith } from "./notice-words.ts";
import { sayOnce } from "./said.ts";

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
    ["approval.asked", { host: "a.test" }, "needs-you", "shop asks"],
    ["approval.asked", { host: "a.test", secret: "key" }, "needs-you", "shop asks"],
    ["agent.state_changed", { to: "waiting" }, "needs-you", "shop waits for you"],
    ["agent.state_changed", { to: "stuck" }, "needs-you", "shop is stuck"],
    ["budget.exhausted", {}, "needs-you", "shop has used up its budget"],
    ["box.failed", { message: "no" }, "needs-you", "shop failed"],
    ["agent.ended", { verdict: "done", why: "ok" }, "done", "shop is done"],
    ["agent.ended", { verdict: "gave_up", why: "no" }, "needs-you", "shop: gave up"],
  ] as const)("%s %j is %s", (type, data, kind, title) => {
    expect(noticeOf(event(type, data))).toMatchObject({ kind, title, key: "event-7" });
  });

  it.each([
    event("agent.state_changed", { to: "working" }),
    event("agent.state_changed", { to: "done" }),
    event("agent.event", { kind: "message" }),
    event("approval.answered", { outcome: "allow" }),
    { ...event("daemon.started"), box: undefined } as unknown as BoxEvent,
  ])("nothing about $type $data", (other) => expect(noticeOf(other)).toBeUndefined());

  it("shows what a box hides in its words", () => {
    const said = noticeOf(event("box.failed", { message: `a\u202eb${"x".repeat(1_000)}` }));
    expect(said?.body).toContain("a⟨U+202E⟩b");
    expect(said?.body.length).toBeLessThan(200);
  });
});

describe("once", () => {
  it("is said by one of many tabs, and not again after a reconnect or a reload", async () => {
    const { storage, locks } = browser();
    let spoken = 0;
    const say = (key: string) => sayOnce(key, () => void (spoken += 1), storage, locks);
    const said = await Promise.all(Array.from({ length: 5 }, () => say("event-1")));
    expect(said.filter(Boolean)).toHaveLength(1);
    expect(await say("event-1")).toBe(false);
    expect(await say("event-2")).toBe(true);
    expect(spoken).toBe(2);
  });

  it("remembers a bounded number, the latest", async () => {
    const { storage, locks } = browser();
    for (let id = 0; id < 300; id += 1) await sayOnce(`event-${id}`, () => undefined, storage, locks);
    expect(await sayOnce("event-299", () => undefined, storage, locks)).toBe(false);
    expect(JSON.parse(storage.getItem("agentbox-notices-said") ?? "")).toHaveLength(200);
  });

  it("goes on after somebody else wrote into its place", async () => {
    const { storage, locks } = browser();
    storage.setItem("agentbox-notices-said", "{not json");
    expect(await sayOnce("event-1", () => undefined, storage, locks)).toBe(true);
    expect(await sayOnce("event-1", () => undefined, storage, locks)).toBe(false);
  });
});

it("says nothing until somebody has chosen", () => {
  expect(parseChoice(null)).toEqual({ "needs-you": false, done: false });
  expect(parseChoice("needs-you")).toEqual({ "needs-you": true, done: false });
  expect(parseChoice("needs-you done __proto__")).toEqual({ "needs-you": true, done: true });
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
