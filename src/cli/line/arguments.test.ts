import { describe, expect, it } from "vitest";
import { parseArguments } from "./arguments.ts";
import { findCommand } from "../table/index.ts";

const parse = (name: string, ...argv: string[]) => parseArguments(findCommand(name)!, argv);

describe("parseArguments", () => {
  it("keeps what follows -- for the box, untouched", () => {
    const args = parse("run", "shell", "--name", "a-b", "--", "ls", "--name", "--", "-x");
    expect(args.positionals).toEqual(["shell"]);
    expect(args.text("name")).toBe("a-b");
    expect(args.rest).toEqual(["ls", "--name", "--", "-x"]);
  });

  it("tells an empty rest from none", () => {
    expect(parse("run", "shell").rest).toBeUndefined();
    expect(parse("run", "shell", "--").rest).toEqual([]);
  });

  it("collects lists, takes the last text, and knows short flags", () => {
    const args = parse("run", "-e", "A=1", "--env=B=2", "--ttl", "1h", "--ttl", "2h", "-d");
    expect(args.list("env")).toEqual(["A=1", "B=2"]);
    expect(args.durationMs("ttl")).toBe(7_200_000);
    expect(args.isSet("detach")).toBe(true);
  });

  it.each([
    ["ls", "extra"],
    ["inspect"],
    ["cp", "a"],
    ["run", "--name"],
    ["run", "--name", "--detach"],
    ["run", "--detach=yes"],
    ["run", "--carry", "everything"],
  ])("refuses %s %s %s", (name, ...argv) => {
    expect(() => parse(name, ...argv)).toThrow(expect.objectContaining({ code: "input.invalid" }));
  });

  it.each([["__proto__"], ["constructor"], ["hasOwnProperty"]])("does not know a flag --%s", (flag) => {
    expect(() => parse("ls", `--${flag}`)).toThrow(expect.objectContaining({ code: "command.unknown" }));
  });

  it("says in whole sentences where a flag for the box belongs", () => {
    expect(() => parse("exec", "shop", "ls", "-l")).toThrow(
      expect.objectContaining({
        hint: "See agentbox exec --help. Flags of the command in the box go after --.",
      }),
    );
  });

  it("checks numbers and durations", () => {
    expect(() => parse("stop", "b", "--grace", "soon").durationMs("grace")).toThrow(/duration/);
    expect(() => parse("logs", "b", "--tail", "x").integer("tail")).toThrow(/whole number/);
    expect(parse("logs", "b", "--tail", "0").integer("tail")).toBe(0);
  });
});
