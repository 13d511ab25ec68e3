import { describe, expect, it } from "vitest";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import { filterKeys, parseBoxFilter } from "./box-filter.ts";

const base = {
  phase: "running",
  agent: "shell",
  runtime: "bubblewrap",
  createdAtMs: 0,
  sinceMs: 0,
  restarts: 0,
  needs: [],
};
const boxes: readonly BoxSummary[] = [
  { ...base, name: "shop-fix", agent: "claude", agentState: "waiting", projectDir: "/home/ann/shop" },
  { ...base, name: "shop-docs", phase: "stopped", verdict: "gave_up", projectDir: "/home/ann/shop" },
  {
    ...base,
    name: "api",
    branch: "main",
    needs: [{ kind: "review", sentence: "It is done.", sinceMs: 0 }],
  },
];
const named = (...texts: string[]) => boxes.filter(parseBoxFilter(texts)).map(({ name }) => name);

describe("--filter", () => {
  it.each([
    [[], ["shop-fix", "shop-docs", "api"]],
    [["state=running"], ["shop-fix", "api"]],
    [["state=waiting"], ["shop-fix"]],
    [["state=Gave-Up"], ["shop-docs"]],
    [["agent=claude"], ["shop-fix"]],
    [["project=shop"], ["shop-fix", "shop-docs"]],
    [["project=/home/ann/shop", "state=stopped"], ["shop-docs"]],
    [["name=shop-*"], ["shop-fix", "shop-docs"]],
    [
      ["name=api", "name=shop-fix"],
      ["shop-fix", "api"],
    ],
    [["needs=yes"], ["api"]],
    [["needs=review"], ["api"]],
    [["needs=no", "branch=main"], []],
    [["name=sh.p-fix"], []],
  ])("%j shows %j", (texts, names) => {
    expect(named(...texts)).toEqual(names);
  });

  it.each(["state", "=x", "state=", "stat=running"])("refuses %j and says which keys there are", (text) => {
    expect(() => parseBoxFilter([text])).toThrow(expect.objectContaining({ code: "input.invalid" }));
  });

  it("suggests the key that was meant", () => {
    expect(() => parseBoxFilter(["agnt=claude"])).toThrow(
      expect.objectContaining({ hint: "Did you mean --filter agent=…?" }),
    );
    expect(filterKeys).toContain("agent");
  });
});
