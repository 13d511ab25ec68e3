import { expect, it } from "vitest";
import type { Danger } from "../../contract/review/danger.ts";
import { commitOf, digestOf } from "./judge-landing.ts";

const commit = "c".repeat(40);
const danger: Danger = { kind: "ci", path: "ci.yml", why: "It runs." };

it("names a state by its checkpoint, its dangers in this branch, and the commit that it is compared with", () => {
  const digests = [
    digestOf(commit, []),
    digestOf(commit, [danger]),
    digestOf(commit, [], "a".repeat(40)),
    digestOf(commit, [], "b".repeat(40)),
    digestOf(commit, [danger], "a".repeat(40)),
  ];
  expect(new Set(digests).size).toBe(digests.length);
  for (const digest of digests) expect(commitOf(digest)).toBe(commit);
});
