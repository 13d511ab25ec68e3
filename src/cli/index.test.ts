import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { agents } from "../agents/index.ts";
import { runCli } from "./index.ts";
import type { ScreenStreams } from "./render/screen.ts";
import { otherNames } from "./line/unknown-command.ts";
import { commands, findCommand } from "./table/index.ts";

/** Runs the command line without a terminal and keeps what it prints. */
async function cli(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const streams = { stdin: new PassThrough(), stdout, stderr } as unknown as ScreenStreams;
  const loadCatalogue = async () => ({ agents, runtimeNames: [], loadPresetNames: async () => [] });
  const code = await runCli({ argv, program: "/nowhere/agentbox", streams, loadCatalogue });
  const text = (stream: PassThrough) => (stream.read() as Buffer | null)?.toString() ?? "";
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

describe("every command", () => {
  it.each(commands.map((command) => [command.name, command] as const))(
    "%s says what it is and shows an example",
    async (name, command) => {
      expect(command.summary).toMatch(/^[A-Z].*\.$/);
      expect(command.usage.split(/[ [|]/)[0]).toBe(name);
      expect(command.examples.length).toBeGreaterThan(0);
      expect(command.examples.join()).toContain(`agentbox ${name}`);
      const { code, stdout, stderr } = await cli(name, "--help");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(command.examples[0]!);
      for (const flag of Object.keys(command.flags)) expect(stdout).toContain(`--${flag}`);
    },
  );

  it("offers the event type that was meant", async () => {
    const { code, stderr } = await cli("events", "--type", "egress.dnied");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("--type egress.denied") });
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    "%s fits on 80 columns",
    async (name, command) => {
      const { stdout } = await cli(name, "--help");
      const long = stdout.split("\n").filter((line) => line.length > 80);
      expect(long.filter((line) => !command.examples.some((example) => line.includes(example)))).toEqual([]);
    },
  );

  it.each(commands.map((command) => [command.name, command] as const))(
    "%s has code that can be loaded",
    async (_name, command) => {
      expect((await command.load()).run).toBeTypeOf("function");
    },
  );

  it("has its own name and no two flags with the same letter", () => {
    expect(new Set(commands.map((command) => command.name)).size).toBe(commands.length);
    for (const command of commands) {
      const letters = Object.values(command.flags).flatMap((flag) => flag.short ?? []);
      expect(new Set([...letters, "h"]).size, command.name).toBe(letters.length + 1);
    }
  });
});

describe("what was mistyped", () => {
  it("suggests the command", async () => {
    const { code, stderr } = await cli("rnu");
    expect(code).toBe(2);
    expect(stderr).toContain('error[command.unknown]: There is no command "rnu".');
    expect(stderr).toContain("agentbox run");
  });

  it.each([
    ["remove", "rm BOX"],
    ["delete", "rm BOX"],
    ["shell", "run shell"],
    ["claude", "run claude"],
    ["status", "ls"],
    ["kill", "stop BOX"],
    ["ssh", "exec BOX"],
  ])("%s leads to %s", async (typed, meant) => {
    for (const words of [[typed], [typed, "shop"], ["help", typed]]) {
      const { code, stderr } = await cli(...words);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining(`hint: agentbox ${typed} → agentbox ${meant}\n`),
      });
    }
  });

  it.each(Object.entries(otherNames))("%s is no command, and %s is one", (typed, meant) => {
    expect(findCommand(typed)).toBeUndefined();
    expect(findCommand(meant.split(" ")[0]!)).toBeDefined();
  });

  it.each([
    [["exec"], "Which box? agentbox exec BOX -- COMMAND"],
    [["stop"], "Which box? agentbox stop BOX…"],
    [["cp", "a"], "Copy to where? agentbox cp SOURCE DESTINATION"],
    [["policy", "show"], "Which box? agentbox policy show BOX"],
    [["policy", "explain", "shop"], "Which address? agentbox policy explain BOX URL"],
    [["ls", "shop"], '"agentbox ls" does not take "shop".'],
  ])("%j is answered by what is missing or too much", async (words, message) => {
    const { code, stderr } = await cli(...words);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`error[input.invalid]: ${message}\n`),
    });
  });

  it("suggests the flag, also for commands that pass exit codes on", async () => {
    const { code, stderr } = await cli("run", "--detatch");
    expect(code).toBe(2);
    expect(stderr).toContain("Did you mean --detach?");
  });

  it("is JSON on stderr with --json", async () => {
    const { code, stdout, stderr } = await cli("ls", "--json", "--wat");
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toMatchObject({ code: "command.unknown", facts: { command: "ls" } });
  });

  it("does not take --json from the command in the box", async () => {
    const { stderr } = await cli("run", "--wat", "--", "tool", "--json");
    expect(stderr).toMatch(/^error\[/);
  });

  it("cannot move the cursor of the terminal it is shown in", async () => {
    const { stderr } = await cli("\u001b[2Jls");
    expect(stderr).not.toContain("\u001b");
  });
});

it.each(["vault", "policy", "budget", "daemon", "login"])(
  "shows the help of %s without a verb",
  async (name) => {
    const help = await cli(name, "--help");
    // Nothing was done, which a script whose verb is empty should hear of.
    expect(await cli(name)).toEqual({ ...help, code: 2 });
  },
);

it("shows all commands without any word", async () => {
  const { code, stdout } = await cli();
  expect(code).toBe(0);
  for (const command of commands) expect(stdout).toContain(command.name);
});

it.each(["bash", "zsh", "fish"])("prints a script for %s that asks for the words", async (shell) => {
  const { code, stdout } = await cli("completion", shell);
  expect(code).toBe(0);
  expect(stdout).toContain("agentbox completion words --");
});

it("completes without a daemon", async () => {
  expect(await cli("completion", "words", "--", "unde")).toEqual({ code: 0, stdout: "", stderr: "" });
  const { stdout } = await cli("completion", "words", "--", "und");
  expect(stdout).toMatch(/^undo\t\S.*\n$/);
});

it("refuses a shell it does not know", async () => {
  expect((await cli("completion", "tcsh")).code).toBe(2);
});
