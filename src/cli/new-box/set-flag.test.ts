import { expect, it } from "vitest";
import { parseArguments } from "../line/arguments.ts";
import { typedValues } from "./set-flag.ts";
import { findCommand } from "../table/index.ts";

const run = findCommand("run")!;
const typed = (...argv: string[]) => typedValues(parseArguments(run, argv), "/p", run.flags);

it("puts lines of a manifest beside and over the flags", async () => {
  expect(
    await typed(
      "shell",
      "--memory",
      "1GiB",
      "--set",
      'services.web.command = "npm start"',
      "--set",
      "services.web.ready = { port = 3000 }",
      "--set",
      'resources.memory = "2GiB"',
    ),
  ).toEqual({
    agent: { name: "shell" },
    resources: { memory: "2GiB" },
    services: { web: { command: "npm start", ready: { port: 3000 } } },
  });
});

it("changes nothing when it is not used", async () => {
  expect(await typed("shell")).toEqual({ agent: { name: "shell" } });
});

it.each(["memory", "a = ", 'a = "b', "a = 1\na = 2"])("refuses what is no line of TOML: %s", async (line) => {
  await expect(typed("shell", `--set=${line}`)).rejects.toMatchObject({ code: "input.invalid" });
});

it("does not reach the prototype of what it merges into", async () => {
  await typed("--set", '__proto__.polluted = "yes"', "--set", 'agent.__proto__.polluted = "yes"');
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
});
