import { describe, expect, it } from "vitest";
import type { Box } from "../../contract/box.ts";
import { allocateOwner, requireOwner } from "./allocate-owner.ts";

const boxOf = (uid: number): Box => ({ name: "b", owner: { uid, gid: uid } }) as Box;
const plain = { name: "docker" };
const mapped = { name: "docker", owners: () => ({ firstUid: 250_000, count: 2 }) };
const range = { kind: "range", firstUid: 100_000, count: 2 } as const;

describe("the user of a box", () => {
  it("is one that no other box has, from the daemon's range or from those the runtime knows", () => {
    expect(allocateOwner(range, [boxOf(100_000)], plain)).toEqual({ uid: 100_001, gid: 100_001 });
    expect(allocateOwner(range, [boxOf(250_000)], mapped)).toEqual({ uid: 250_001, gid: 250_001 });
    expect(() => allocateOwner(range, [boxOf(250_000), boxOf(250_001)], mapped)).toThrow(
      expect.objectContaining({ code: "box.limit_reached" }),
    );
  });

  it("moves only to a runtime that knows it inside", () => {
    expect(() => requireOwner(boxOf(100_000), plain)).not.toThrow();
    expect(() => requireOwner(boxOf(250_001), mapped)).not.toThrow();
    for (const uid of [100_000, 249_999, 250_002])
      expect(() => requireOwner(boxOf(uid), mapped)).toThrow(
        expect.objectContaining({ code: "runtime.unsupported" }),
      );
  });
});
