import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LaunchRequest, LineReader } from "../../contract/agent.ts";
import { AgentEvent } from "../../contract/agent-events.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { opencode } from "./opencode.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "--do it",
  newConversation: "0b0e6f5c-1111-4222-8333-444444444444",
  autonomy: "full",
  options: {},
  args: [],
  model: "some-model",
  program: "/opt/agentbox/agents/opencode/node_modules/.bin/opencode",
  endpoint: { baseUrl: "http://model.agentbox.internal/openai", token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: boxPaths.workspace,
  home: boxPaths.home,
};

const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.jsonl`, import.meta.url), "utf8");
const readAll = (read: LineReader, name: string) => recorded(name).split("\n").flatMap(read);
const configOf = (changes: Partial<LaunchRequest>) =>
  JSON.parse(opencode.launch({ ...request, ...changes }).env["OPENCODE_CONFIG_CONTENT"] ?? "{}") as Record<
    string,
    Record<string, unknown>
  >;
const pluginOf = (changes: Partial<LaunchRequest>) =>
  opencode.launch({ ...request, ...changes }).files.find((file) => file.path.endsWith("plugin.js"))?.text;

describe("launch", () => {
  it("goes on with the conversation it is told, in either mode", () => {
    for (const mode of ["headless", "interactive"] as const) {
      expect(opencode.launch({ ...request, mode, resume: { conversation: "ses_1" } }).argv).toContain(
        "--session=ses_1",
      );
      expect(opencode.launch({ ...request, mode, resume: {} }).argv).toContain("--continue");
      expect(opencode.launch({ ...request, mode }).argv.join(" ")).not.toMatch(/--session|--continue/);
    }
  });

  it("has its plugin send the first prompt of a conversation that goes on, because the terminal drops it", () => {
    const mode = "interactive";
    expect(pluginOf({ mode, resume: { conversation: "ses_1" } })).toContain(
      '{"conversation":"ses_1","text":"--do it"}',
    );
    expect(pluginOf({ mode })).toContain("const prompt = null;");
    expect(pluginOf({})).toBeUndefined();
  });

  it("maps levels to permissions", () => {
    expect(configOf({ autonomy: "full" })["permission"]).toEqual({ "*": "allow" });
    expect(configOf({ autonomy: "edit" })["permission"]).toMatchObject({ bash: "ask" });
    expect(configOf({ autonomy: "edit" })["permission"]).not.toHaveProperty("edit");
    expect(configOf({ autonomy: "ask" })["permission"]).toMatchObject({ bash: "ask", edit: "ask" });
  });

  it("is pointed to Chat Completions at the gateway, and to nothing else", () => {
    expect(configOf({})["enabled_providers"]).toEqual(["agentbox"]);
    expect(configOf({})["provider"]).toMatchObject({
      agentbox: {
        options: { baseURL: "http://model.agentbox.internal/openai/v1", apiKey: "sk-agentbox-placeholder" },
        models: { "some-model": {} },
      },
    });
    expect(opencode.launch(request).argv).toContain("--model=agentbox/some-model");
  });

  it("turns MCP servers into its own form", () => {
    const mcp: LaunchRequest["mcp"] = [
      { transport: "stdio", name: "files", command: "files", args: ["-a"], env: { A: "b" } },
      { transport: "http", name: "web", url: "https://example.com/mcp", headers: { "x-a": "b" } },
    ];
    expect(configOf({ mcp })["mcp"]).toEqual({
      files: { type: "local", command: ["files", "-a"], environment: { A: "b" }, enabled: true },
      web: {
        type: "remote",
        url: "https://example.com/mcp",
        headers: { "x-a": "b" },
        enabled: true,
        oauth: false,
      },
    });
  });
});

describe("output", () => {
  it("tells a recorded run in which it wrote a file and ran a command", () => {
    const events = readAll(opencode.readOutput!(), "opencode-work");
    const call = ["thinking", "message", "tool_called", "tool_answered"];
    expect(events.map((event) => event.kind)).toEqual([
      "session_started",
      ...call,
      "file_changed",
      "usage",
      ...call,
      "usage",
      "thinking",
      "message",
      "usage",
      "turn_done",
    ]);
    expect(events[0]).toMatchObject({ conversation: expect.stringMatching(/^ses_/) });
    expect(events[3]).toMatchObject({ tool: "write", summary: "/workspace/hello.txt" });
    expect(events[5]).toEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
    expect(events[6]).toEqual({
      kind: "usage",
      usage: { input: 1400, output: 300, cached: 400, cacheWrite: 0, reasoning: 120 },
    });
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("tells a run that the model refused", () => {
    expect(readAll(opencode.readOutput!(), "opencode-refused")).toMatchObject([
      { kind: "session_started" },
      { kind: "error", message: "Scripted error 401", isFatal: true },
      { kind: "turn_done", isError: true },
    ]);
  });

  it("tells a run that stopped because nobody could approve", () => {
    expect(readAll(opencode.readOutput!(), "opencode-unapproved").at(-1)).toEqual({
      kind: "turn_done",
      isError: true,
      text: "The user rejected permission to use this specific tool call.",
    });
  });
});

describe("plugin", () => {
  it("tells a recorded turn in its terminal, each call once", () => {
    const events = readAll(opencode.readHooks!(), "opencode-hooks");
    const call = ["tool_called", "message", "tool_answered"];
    expect(events.map((event) => event.kind)).toEqual([
      "session_started",
      ...call,
      "file_changed",
      "usage",
      ...call,
      "usage",
      "message",
      "usage",
      "turn_done",
    ]);
    expect(events).toContainEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("tells an interrupted turn once", () => {
    const done = readAll(opencode.readHooks!(), "opencode-interrupted").filter(
      (one) => one.kind === "turn_done",
    );
    expect(done).toEqual([{ kind: "turn_done", isError: true, text: "Aborted" }]);
  });

  it("tells that it waits for approval", () => {
    expect(readAll(opencode.readHooks!(), "opencode-asks").at(-1)).toEqual({
      kind: "approval_asked",
      what: "edit: workspace/hello.txt",
    });
  });

  it("does not take a subagent's end for the end of the turn", () => {
    const read = opencode.readHooks!();
    const lines = [
      { type: "session.created", id: "ses_main" },
      { type: "session.status", id: "ses_main" },
      { type: "session.created", id: "ses_child", parent: "ses_main" },
      { type: "session.idle", id: "ses_child" },
    ];
    expect(lines.flatMap((line) => read(JSON.stringify(line)))).toEqual([
      { kind: "session_started", conversation: "ses_main" },
    ]);
    expect(read('{"type":"session.idle","id":"ses_main"}')).toMatchObject([{ kind: "turn_done" }]);
  });
});

it("reads whatever comes", () => {
  const types = [
    "text",
    "tool_use",
    "step_finish",
    "error",
    "session.idle",
    "session.error",
    "session.created",
  ];
  const more = ["message.part.updated", "message.updated", "permission.asked", "session.status"];
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        type: fc.constantFrom(...types, ...more),
        id: fc.oneof(fc.string(), fc.jsonValue()),
        sessionID: fc.oneof(fc.string(), fc.jsonValue()),
        part: fc.oneof(
          fc.record({ type: fc.constantFrom("tool", "text"), state: fc.jsonValue() }),
          fc.jsonValue(),
        ),
        tokens: fc.jsonValue(),
        error: fc.jsonValue(),
        patterns: fc.jsonValue(),
      })
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      for (const read of [opencode.readOutput!(), opencode.readHooks!()]) {
        for (const event of lines.flatMap(read)) AgentEvent.parse(event);
      }
    }),
  );
});
