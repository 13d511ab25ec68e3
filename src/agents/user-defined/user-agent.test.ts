import fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { LaunchRequest } from "../../contract/agent.ts";
import { AgentEvent } from "../../contract/agent-events.ts";
import { agentFromToml } from "./user-agent.ts";

const fixture = readFileSync(new URL("../../../test/fixtures/agents/notebot.toml", import.meta.url), "utf8");
const notebot = agentFromToml(fixture, "notebot.toml");

const request: LaunchRequest = {
  mode: "headless",
  task: "Say hello",
  newConversation: "11111111-2222-3333-4444-555555555555",
  autonomy: "full",
  options: {},
  args: [],
  program: "/opt/agentbox/agents/notebot/notebot",
  endpoint: { baseUrl: "http://model.agentbox.internal/openai", token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: "/workspace",
  home: "/home/agent",
};

const small = `name = "mini"
description = "Does little."
[install]
kind = "npm"
package = "mini-cli"
version = "1.2.3"
bin = "mini"
[launch]
headless = ["{program}", "{task}"]
`;

describe("launch", () => {
  it("puts each value into the argument that names it", () => {
    const launch = notebot.launch({ ...request, options: { tone: "warm", loud: true }, args: ["--extra"] });
    expect(launch.argv).toEqual([
      "/opt/agentbox/agents/notebot/notebot",
      "--model=gpt-5",
      "--yes",
      "--file=note.txt",
      "--loud",
      "--tone",
      "warm",
      "--extra",
      "--",
      "Say hello",
    ]);
    expect(launch.env).toEqual({
      OPENAI_BASE_URL: "http://model.agentbox.internal/openai/v1",
      OPENAI_API_KEY: "sk-agentbox-placeholder",
    });
    expect(launch.files).toEqual([
      { path: ".notebot/config.json", how: "merge", text: '{"telemetry":false,"model":"gpt-5"}' },
    ]);
    expect(launch.links).toBeUndefined();
  });

  it("never makes more or fewer arguments of a task, whatever it says", () => {
    const { length } = notebot.launch(request).argv;
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (task) => {
        const { argv } = notebot.launch({ ...request, task });
        expect(argv).toHaveLength(length);
        expect(argv.at(-1)).toBe(task);
      }),
    );
    expect(notebot.launch({ ...request, task: "{token} $& $(id)" }).argv.at(-1)).toBe("{token} $& $(id)");
  });

  it("leaves out a group, a file and a link whose placeholder has no value, and nothing else", () => {
    const { argv } = notebot.launch({ ...request, mode: "interactive", task: undefined });
    expect(argv).not.toContain("--");
    const full = notebot.launch({
      ...request,
      mode: "interactive",
      instructions: 'Be "kind".',
      skillsDir: "/opt/agentbox/skills",
      mcp: [{ transport: "stdio", name: "files", command: "files", args: [], env: {} }],
    });
    expect(full.argv.slice(-2)).toEqual(["--", "Say hello"]);
    expect(full.files.map(({ path }) => path)).toEqual([
      ".notebot/config.json",
      ".notebot/AGENTS.md",
      ".notebot/mcp.json",
    ]);
    expect(full.files[1]?.text).toBe('Be "kind".');
    expect(JSON.parse(full.files[2]!.text)).toEqual({
      mcpServers: { files: { command: "files", args: [], env: {} } },
    });
    expect(full.links).toEqual({ ".notebot/skills": "/opt/agentbox/skills" });
  });

  it("does not let a value break out of a quoted text in a settings file", () => {
    const model = 'x","telemetry":true,"y":"';
    const { files } = notebot.launch({ ...request, model });
    expect(JSON.parse(files[0]!.text)).toEqual({ telemetry: false, model });
  });

  it("goes on with a conversation, and refuses rather than starting a new one", () => {
    const resumed = notebot.launch({ ...request, resume: { conversation: "c-1" } });
    expect(resumed.argv).toContain("--continue=c-1");
    const noId = () => notebot.launch({ ...request, resume: {} });
    expect(noId).toThrow(expect.objectContaining({ code: "agent.no_conversation" }));
    const mini = agentFromToml(small, "mini.toml");
    expect(mini.launch(request).argv).toEqual([request.program, "Say hello"]);
    const never = () => mini.launch({ ...request, resume: { conversation: "c-1" } });
    expect(never).toThrow(expect.objectContaining({ code: "agent.no_conversation" }));
    expect(mini.traps).toContain("It cannot go on with a conversation: its file has no launch.resume.");
  });

  it("checks options with their own schema", () => {
    expect(notebot.options.parse({})).toEqual({ file: "note.txt" });
    expect(notebot.options.safeParse({ tone: "warm", loud: true }).success).toBe(true);
    expect(notebot.options.safeParse({ tone: "cold" }).success).toBe(false);
    expect(notebot.options.safeParse({ volume: 3 }).success).toBe(false);
  });
});

describe("events", () => {
  it("reads lines by the fields that match", () => {
    const read = notebot.readOutput!();
    expect(read('{"type":"start","session":{"id":"s-1","model":"gpt-5"}}')).toEqual([
      { kind: "session_started", conversation: "s-1", model: "gpt-5" },
    ]);
    expect(read('{"type":"text","content":[{"text":"Hello"}]}')).toEqual([
      { kind: "message", role: "agent", text: "Hello" },
    ]);
    expect(read('{"type":"tool","state":"done","name":"write","id":"1","input":{"path":"a"}}')).toEqual([
      { kind: "tool_answered", id: "1", isError: false, summary: "" },
      { kind: "file_changed", path: "a", change: "created" },
    ]);
    expect(read('{"type":"end","failed":true}')).toEqual([{ kind: "turn_done", isError: true }]);
    expect(read("Loading…")).toEqual([]);
    expect(read('{"type":"other"}')).toEqual([]);
  });

  it("makes valid events of any line", () => {
    const values = fc.oneof(fc.constantFrom("start", "text", "tool", "error", "end"), fc.jsonValue());
    const line = fc.record({ type: values, session: values, content: values, id: values, failed: values });
    fc.assert(
      fc.property(line, (value) => {
        for (const event of notebot.readOutput!()(JSON.stringify(value))) AgentEvent.parse(event);
      }),
    );
  });
});

describe("a file with a mistake", () => {
  const cases: readonly [string, string, string, string | RegExp, string][] = [
    ["no TOML", "name = ", "", "mini.toml:1:8: This is not valid TOML", "Correct the text"],
    [
      "an unknown key",
      "description",
      "descripton",
      'mini.toml:2:1: The key "descripton" is not known',
      "Did you mean",
    ],
    [
      "an unknown key of a table",
      "package",
      "pakage",
      'mini.toml:5:1: The key "pakage" is not known in install',
      '"package"',
    ],
    [
      "a missing key",
      'description = "Does little."',
      "",
      'The key "description" is missing',
      "Add description",
    ],
    [
      "a built-in name",
      '"mini"\ndesc',
      '"shell"\ndesc',
      'mini.toml:1:8: AgentBox has an agent named "shell"',
      "another",
    ],
    ["a bad name", '"mini"\ndesc', '"../x"\ndesc', '"../x" cannot be the name', "lower-case"],
    ["a bad kind", '"npm"', '"npn"', "mini.toml:4:8: install.kind cannot be", 'Did you mean "npm"'],
    [
      "a package that is an address",
      "mini-cli",
      "git+https://example.com/x",
      "not the name of a package",
      "registry",
    ],
    ["a package that is a flag", "mini-cli", "--global", "not the name of a package", "registry"],
    [
      "a version that is a range",
      "1.2.3",
      "^1.2.3",
      'mini.toml:6:11: "^1.2.3" is not an exact version',
      "1.2.3",
    ],
    [
      "an unknown placeholder",
      "{task}",
      "{taks}",
      "mini.toml:9:26: The placeholder {taks} is not known",
      "{task}",
    ],
    ["no place for the task", ', "{task}"', "", "does not say where the task goes", "{task}"],
    [
      "a list inside an argument",
      '"{task}"',
      '"{task}", "x{args}"',
      "{args} is several arguments",
      "of its own",
    ],
    [
      "a flag that may stay alone",
      '"{task}"',
      '"{task}", "--model", "{model}"',
      '"--model" would stay alone',
      "leave out both",
    ],
    [
      "an endpoint without an API",
      '"{task}"',
      '"{task}", "{base_url}"',
      "has no value without an API",
      "api =",
    ],
    ["a shell in front", '"{program}"', '["sh", "{program}"]', "does not begin with a program", "{program}"],
    ["a wrong type", '"1.2.3"', "3", "install.version must be a text, and is 3", "docs/agents.md"],
    ["hidden text", "Does little", "Does \u202elittle", "hidden character U+202E", "Remove"],
  ];

  it.each(cases)("says where %s is", (_what, from, to, message, hint) => {
    expect(() => agentFromToml(small, "mini.toml")).not.toThrow();
    const error = errorOf(from === "name = " ? from : small.replace(from, to));
    expect(error.code).toBe("agent.invalid");
    expect(error.message).toMatch(typeof message === "string" ? literal(message) : message);
    expect(error.hint).toMatch(literal(hint));
    expect(error.facts).toMatchObject({
      file: "mini.toml",
      line: expect.any(Number),
      column: expect.any(Number),
    });
  });

  const additions: readonly [string, string, string][] = [
    ["a file above the home", '[[files]]\npath = "../x"\ntext = ""', '"../x" is not a path below the home'],
    ["a file outside the home", '[[files]]\npath = "/etc/x"\ntext = ""', "is not a path below the home"],
    ["a merge of no object", '[[files]]\npath = "x"\nhow = "merge"\ntext = "[]"', "must be a JSON object"],
    ["a bad variable", '[launch.env]\n"A B" = "x"', "cannot be the name of an environment variable"],
    [
      "a choice without choices",
      '[options.a]\ntype = "choice"\ndescription = "A."\nflag = "--a={value}"',
      "Choices belong",
    ],
    [
      "a bad default",
      '[options.a]\ntype = "number"\ndefault = "x"\ndescription = "A."\nflag = "--a={value}"',
      "not a value",
    ],
    [
      "a flag without its value",
      '[options.a]\ntype = "text"\ndescription = "A."\nflag = "--a"',
      "where the value goes",
    ],
    ["an event without a match", '[events]\nmessage = { match = {}, text = "t" }', "has no match"],
    ["an unknown key of an event", '[events]\nmessage = { match = { a = 1 }, txt = "t" }', "is not known"],
    ["a key that is no key", '[keys]\nsubmit = "return"', "keys.submit cannot be"],
  ];

  it.each(additions)("refuses %s", (_what, addition, message) => {
    expect(errorOf(`${small}${addition}\n`).message).toMatch(literal(message));
  });

  it("never throws anything else", () => {
    fc.assert(
      fc.property(fc.nat(fixture.length), fc.nat(40), fc.string(), (at, length, text) => {
        try {
          agentFromToml(fixture.slice(0, at) + text + fixture.slice(at + length), "x.toml");
        } catch (error) {
          expect(error).toBeInstanceOf(AgentBoxError);
        }
      }),
      { numRuns: 300 },
    );
  });
});

const literal = (text: string) => new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));

function errorOf(text: string): AgentBoxError {
  try {
    agentFromToml(text, "mini.toml");
  } catch (error) {
    if (error instanceof AgentBoxError) return error;
    throw error;
  }
  throw new AgentBoxError("internal.unexpected", "The file was accepted.");
}
