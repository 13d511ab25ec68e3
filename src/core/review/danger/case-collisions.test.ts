import { describe, expect, it } from "vitest";
import type { Change } from "../../../contract/review/change.ts";
import { find, noSecrets } from "./planted-changes.fixture.ts";

const among = async (changed: Partial<Change> & { path: string }, ...rest: string[]) => {
  async function* paths() {
    yield* [...rest, changed.path];
  }
  const found = await find([changed], noSecrets, paths);
  return found.map(({ why }) => why).filter((why) => why.startsWith("It is the same as"));
};

describe("a changed path that is another one where case makes no difference", () => {
  it.each([
    ["readme.md", "README.md"],
    ["SRC/new.ts", "src/old.ts"],
    ["docs", "Docs/a.md"],
    ["a/\u212Aey", "a/key"],
  ])("%s beside %s is flagged, once", async (path, other) => {
    const found = await among({ path, kind: "added" }, other, "else/where.txt");
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("on macOS and Windows");
  });

  it.each([
    ["readme.md", "docs/README.md"],
    ["src/new.ts", "src/old.ts"],
    ["src/a/b.ts", "src/A.ts"],
  ])("%s beside %s is not", async (path, other) => {
    expect(await among({ path, kind: "added" }, other)).toEqual([]);
  });

  it("that was there before is only flagged when it becomes something else", async () => {
    const file = { path: "a", oldMode: "100644", newMode: "100644", kind: "modified" } as const;
    expect(await among(file, "A/hook")).toEqual([]);
    expect(await among({ ...file, kind: "type_changed", newMode: "120000" }, "A/hook")).toHaveLength(1);
  });
});
