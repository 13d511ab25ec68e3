import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costRatio } from "../../../test/support/cost.ts";
import { canonicalPath, matchesPath, pathPatternProblem } from "./path-pattern.ts";

describe("the path that is judged", () => {
  it.each([
    ["/", "/"],
    ["/a/b", "/a/b"],
    ["/a/b/", "/a/b/"],
    ["/a?x=/../..", "/a"],
    ["/%61%2D%7e", "/a-~"],
    ["/a%20b%c3%a4", "/a%20b%C3%A4"],
    ["/a;v=1/b", "/a;v=1/b"],
    ["/...", "/..."],
    ["/.git", "/.git"],
    ["/100%25", "/100%25"],
  ])("%s is %s", (raw, path) => expect(canonicalPath(raw)).toBe(path));

  it.each([
    "",
    "a",
    "*",
    "http://example.org/a",
    "/a/../b",
    "/..",
    "/a/./b",
    "/a/.",
    "/%2e%2e/b",
    "/.%2E/b",
    "/a/..;/b",
    "/a/..;x=1",
    "/a%2fb",
    "/a%2Fb",
    "/a%5cb",
    "/a\\b",
    "//a",
    "/a//b",
    "/a%00",
    "/a%0d%0aX",
    "/a\r\nX",
    "/a b",
    "/a\0",
    "/ä",
    "/%252e%252e",
    "/%",
    "/%zz",
    "/%c",
    "/a#b",
    `/${"a".repeat(9_000)}`,
  ])("%j has no single reading", (raw) => expect(canonicalPath(raw)).toBeUndefined());

  it("reading it again changes nothing", () => {
    const path = fc.stringMatching(/^\/[a-z0-9%./;~?*-]{0,30}$/);
    fc.assert(
      fc.property(path, (raw) => {
        const once = canonicalPath(raw);
        if (once === undefined) return;
        expect(canonicalPath(once)).toBe(once);
        expect(new URL(once, "http://x.test").pathname).toBe(once);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("path patterns", () => {
  it.each([
    ["/a", "/a", true],
    ["/a", "/a/", false],
    ["/a", "/A", false],
    ["/*", "/a", true],
    ["/*", "/a/b", false],
    ["/*/b", "/a/b", true],
    ["/a*c", "/abbc", true],
    ["/a*c", "/abbcd", false],
    ["/**", "/", true],
    ["/**", "/a/b/c", true],
    ["/repos/**", "/repos", true],
    ["/repos/**", "/repos/a/b", true],
    ["/repos/**", "/reposx", false],
    ["/**/pull", "/a/b/pull", true],
    ["/**/pull", "/a/b/pulls", false],
    ["/*/*/git-upload-pack", "/o/r.git/git-upload-pack", true],
    ["/*/*/git-upload-pack", "/o/r/x/git-upload-pack", false],
    ["/*/*/git-upload-pack", "/o/r.git/git-receive-pack", false],
  ])("%s and %s: %s", (pattern, path, expected) => {
    expect(pathPatternProblem(pattern)).toBeUndefined();
    expect(matchesPath(pattern, path)).toBe(expected);
  });

  it.each(["", "a", "a/**", "/a?b", "/a#b", "/a/../b", "/a//b", "/%2f", "/%61", "/a**", "/**b/c", "/***"])(
    "%j cannot be used",
    (pattern) => expect(pathPatternProblem(pattern)).toBeDefined(),
  );

  it("a hostile path costs no more than its length", async () => {
    const match = (length: number) => {
      expect(matchesPath(`/${"*a".repeat(100)}b`, `/${"a".repeat(length)}`)).toBe(false);
      expect(matchesPath(`${"/**/a".repeat(50)}/b`, "/a".repeat(length / 2))).toBe(false);
    };
    const ratio = await costRatio(
      () => match(8_000),
      () => match(2_000),
    );
    // Four times the length costs four times as much; going back to an earlier star would cost at least the square.
    expect(ratio).toBeLessThan(12);
  });
});
