import { describe, expect, it } from "vitest";
import { parseArguments } from "../line/arguments.ts";
import { getNamedBox } from "./named-box.ts";
import { findCommand } from "../table/index.ts";

const command = findCommand("policy")!;
const named = (others: number, ...argv: string[]) => {
  const args = parseArguments(command, argv);
  return getNamedBox({ args, command }, args.positionals.slice(1), others);
};

describe("getNamedBox", () => {
  it("takes the next word or --box", () => {
    expect(named(0, "show", "shop").box).toBe("shop");
    expect(named(0, "show", "--box", "shop").box).toBe("shop");
    expect(named(1, "explain", "--box", "shop", "https://x.example")).toEqual({
      box: "shop",
      others: ["https://x.example"],
    });
    expect(named(1, "explain", "shop", "https://x.example").others).toEqual(["https://x.example"]);
  });

  it.each([
    [0, ["show"]],
    [0, ["show", "a", "b"]],
    [0, ["show", "a", "--box", "b"]],
    [1, ["explain", "https://x.example"]],
    [1, ["explain", "--box", "a"]],
  ])("refuses too few and too many words: %i %o", (others, argv) => {
    expect(() => named(others, ...argv)).toThrow(expect.objectContaining({ code: "input.invalid" }));
  });
});
