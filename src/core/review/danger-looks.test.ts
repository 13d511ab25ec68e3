import { expect, it } from "vitest";
import type { Change } from "../../contract/review/change.ts";
import type { Danger } from "../../contract/review/danger.ts";
import { contentsOf } from "./danger-looks.ts";

const change = (path: string, newId: string): Change => ({
  path,
  kind: "modified",
  oldMode: "100644",
  newMode: "100644",
  oldId: "1",
  newId,
  isBinary: false,
  added: 1,
  deleted: 0,
  bytes: 1,
});
const ci: Danger = { kind: "ci", path: "ci.yml", why: "It runs." };
const hook: Danger = { kind: "hook", path: ".husky/x", line: 2, why: "It runs, too." };
const review = {
  dangers: [ci, hook],
  changes: [change("ci.yml", "a"), change(".husky/x", "b")],
  digest: "d",
};

it("names what there is of each kind, whatever else has changed", () => {
  const first = contentsOf(review);
  expect(contentsOf({ ...review, digest: "e", dangers: [hook, ci] })).toEqual(first);
  const more = contentsOf({ ...review, changes: [...review.changes, change("z.ts", "c")], digest: "f" });
  expect(more).toEqual(first);
});

it("is another one for new content, another place, another sentence or one more file of the kind", () => {
  const ofCi = (part: Partial<typeof review>) => contentsOf({ ...review, ...part }).get("ci");
  const first = ofCi({});
  const others = [
    ofCi({ changes: [change("ci.yml", "new"), change(".husky/x", "b")] }),
    ofCi({ dangers: [{ ...ci, line: 3 }] }),
    ofCi({ dangers: [{ ...ci, why: "It also deploys." }] }),
    ofCi({ dangers: [ci, { ...ci, path: ".husky/x" }] }),
  ];
  for (const other of others) expect(other).not.toBe(first);
  expect(
    contentsOf({ ...review, changes: [change("ci.yml", "new"), change(".husky/x", "b")] }).get("hook"),
  ).toBe(contentsOf(review).get("hook"));
});

it("holds for one state alone where the danger has no change of its own", () => {
  const linked = { dangers: [{ ...ci, path: "elsewhere" }], changes: [], digest: "d" };
  expect(contentsOf(linked)).not.toEqual(contentsOf({ ...linked, digest: "e" }));
});
