import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBoxName, proposeName, requireBoxName } from "./box-names.ts";

describe("box names", () => {
  it.each(["ab", "team-app-backend", "a1-2"])("accept %s", (name) => expect(requireBoxName(name)).toBe(name));

  it.each(["", "a", "A-b", "-a", "a-", "a--b", "../etc", "a/b", "a b", "a\0b", "ä-b", "1a", "x".repeat(49)])(
    "refuse %j",
    (name) =>
      expect(() => requireBoxName(name)).toThrow(expect.objectContaining({ code: "box.name_invalid" })),
  );

  it("come from the project and the agent, and are numbered when taken", () => {
    const taken = new Set(["my-shop-claude", "my-shop-claude-2"]);
    expect(proposeName("My Shop", "claude", () => false)).toBe("my-shop-claude");
    expect(proposeName("My Shop", "claude", (name) => taken.has(name))).toBe("my-shop-claude-3");
    expect(proposeName("123", "shell", () => false)).toBe("shell");
    expect(proposeName(undefined, "shell", () => false)).toBe("box-shell");
  });

  it("are valid whatever the directory is called", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(20), (project, count) => {
        let calls = 0;
        expect(isBoxName(proposeName(project, "shell", () => calls++ < count))).toBe(true);
      }),
    );
  });
});
