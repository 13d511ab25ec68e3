import { describe, expect, it } from "vitest";
import { parseCopyEnd, planCopy } from "./box-path.ts";

describe("parseCopyEnd", () => {
  it.each([
    ["shop:/etc/passwd", { kind: "box", box: "shop", path: "/etc/passwd" }],
    ["shop:src", { kind: "box", box: "shop", path: "/workspace/src" }],
    ["shop:", { kind: "box", box: "shop", path: "/workspace" }],
    ["team-app:../x", { kind: "box", box: "team-app", path: "/x" }],
    ["./a:b", { kind: "host", path: "./a:b" }],
    ["/a:b", { kind: "host", path: "/a:b" }],
    ["file", { kind: "host", path: "file" }],
    ["Upper:x", { kind: "host", path: "Upper:x" }],
  ])("%s", (text, end) => {
    expect(parseCopyEnd(text)).toEqual(end);
  });
});

it("wants exactly one side in a box", () => {
  expect(planCopy("a", "shop:b")).toMatchObject({ direction: "in", hostPath: "a", boxPath: "/workspace/b" });
  expect(planCopy("shop:b", "a")).toMatchObject({ direction: "out", hostPath: "a", box: "shop" });
  for (const [from, to] of [
    ["a", "b"],
    ["x:a", "y:b"],
  ] as const) {
    expect(() => planCopy(from, to)).toThrow(expect.objectContaining({ code: "input.invalid" }));
  }
});
