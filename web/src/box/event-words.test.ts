import { describe, expect, it } from "vitest";
import type { BoxEvent } from "../../../src/contract/events.ts";
import { lineOf, mergeEvents, rowsOf } from "./event-words.ts";

let next = 1;
const event = (type: BoxEvent["type"], data: BoxEvent["data"] = {}): BoxEvent => ({
  id: next++,
  atMs: 0,
  type,
  box: "shop",
  data,
});
const says = (type: BoxEvent["type"], data: BoxEvent["data"] = {}) => {
  const line = lineOf(event(type, data));
  return line && `${line.kind}: ${line.title} ${line.text}`.trim();
};

describe("an event as a line", () => {
  const at = { host: "a.test", port: 443 };
  it.each([
    ["agent.event", { kind: "tool_called", tool: "Bash", summary: "npm test" }, "commands: Bash npm test"],
    ["agent.event", { kind: "file_changed", path: "a.ts", change: "created" }, "files: created a.ts"],
    [
      "agent.event",
      { kind: "usage", usage: { input: 1_200, output: 30 }, model: "m" },
      "tokens: 1,200 tokens in, 30 out m",
    ],
    ["agent.event", { kind: "message", role: "agent", text: "Hello" }, "agent: The agent says Hello"],
    ["agent.event", { kind: "approval_asked", what: "run rm" }, "approvals: The agent asks run rm"],
    ["exec.started", { argv: ["ls", "-l"] }, "commands: Command ls -l"],
    ["exec.ended", { code: 3 }, "commands: Command ended exit code 3"],
    ["egress.allowed", { ...at, program: "curl" }, "hosts: Reached a.test:443, by curl"],
    [
      "egress.denied",
      { ...at, reason: "no_rule", count: 3 },
      "denials: Denied a.test:443: no rule names this host (3 times)",
    ],
    ["approval.asked", { ...at, method: "GET", path: "/x" }, "approvals: Asks to reach GET a.test:443/x"],
    [
      "approval.answered",
      { ...at, outcome: "allow", scope: "box" },
      "approvals: Allowed a.test:443, for this box",
    ],
    ["approval.answered", { ...at, outcome: "timed_out" }, "approvals: Denied: no answer a.test:443"],
    [
      "budget.exhausted",
      { scope: "run", unit: "tokens", used: 1_000, limit: 1_000 },
      "tokens: Budget used up 1,000 of 1,000 tokens for each run",
    ],
    ["box.stopped", { reason: "host_restarted", exitCode: 1 }, "box: Stopped host restarted, exit code 1"],
    ["work.merged", { branch: "main", files: 2 }, "review: work merged branch: main, files: 2"],
  ] as const)("%s %j", (type, data, expected) => expect(says(type, data as BoxEvent["data"])).toBe(expected));

  it("leaves out what only programs want, and does not trip over what is missing", () => {
    expect(says("agent.event", { kind: "tool_answered", isError: false, summary: " " })).toBeUndefined();
    expect(says("agent.event", { kind: "something new" })).toBeUndefined();
    for (const type of [
      "agent.event",
      "egress.denied",
      "approval.answered",
      "exec.ended",
      "files.copied",
    ] as const)
      expect(() => says(type, {})).not.toThrow();
  });

  it("cuts what is long", () => {
    const long = lineOf(event("agent.event", { kind: "thinking", text: "x".repeat(10_000) }));
    expect(long?.text.length).toBeLessThan(400);
  });
});

describe("rows", () => {
  const denied = (host: string) => event("egress.denied", { host, port: 443, reason: "no_rule" });

  it("show neighbours that say the same as one, and only the kinds that were asked for", () => {
    const events = [denied("a.test"), denied("a.test"), event("box.started"), denied("a.test")];
    expect(rowsOf(events, new Set()).map(({ line, count }) => [line.kind, count])).toEqual([
      ["denials", 2],
      ["box", 1],
      ["denials", 1],
    ]);
    expect(rowsOf(events, new Set(["denials"])).map(({ count }) => count)).toEqual([3]);
  });

  it("come from a page and the live events together, each once and the newest first", () => {
    const [one, two, three] = [denied("1.test"), denied("2.test"), denied("3.test")];
    expect(mergeEvents([two, one], [three, two])).toEqual([three, two, one]);
  });
});
