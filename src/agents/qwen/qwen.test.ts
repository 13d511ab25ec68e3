import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LaunchRequest, LineReader } from "../../contract/agent.ts";
import { AgentEvent } from "../../contract/agent-events.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { qwen } from "./qwen.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "--do it",
  newConversation: "0b0e6f5c-1111-4222-8333-444444444444",
  autonomy: "full",
  options: {},
  args: [],
  model: "some-model",
  program: "/opt/agentbox/agents/qwen/node_modules/.bin/qwen",
  endpoint: { baseUrl: "http://model.agentbox.internal/openai", token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: boxPaths.workspace,
  home: boxPaths.home,
};

const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.jsonl`, import.meta.url), "utf8");
const readAll = (read: LineReader, name: string) => recorded(name).split("\n").flatMap(read);
const settingsOf = (changes: Partial<LaunchRequest>) => {
  const file = qwen
    .launch({ ...request, ...changes })
    .files.find((one) => one.path === ".qwen/settings.json");
  return JSON.parse(file?.text ?? "{}") as Record<string, Record<string, unknown>>;
};

describe("launch", () => {
  it("begins a conversation under the id that was chosen, and goes on with the same", () => {
    expect(qwen.launch(request).argv).toContain(`--session-id=${request.newConversation}`);
    const again = qwen.launch({ ...request, resume: { conversation: "abc" } }).argv;
    expect(again).toContain("--resume=abc");
    expect(again.some((one) => one.startsWith("--session-id"))).toBe(false);
    expect(qwen.launch({ ...request, resume: {} }).argv).toContain("--continue");
  });

  it("takes no task for a flag, in either mode", () => {
    expect(qwen.launch(request).argv).toContain("--prompt=--do it");
    const interactive = qwen.launch({ ...request, mode: "interactive" }).argv;
    expect(interactive).toContain("--prompt-interactive=--do it");
    expect(interactive).not.toContain("--output-format=stream-json");
  });

  it.each([
    ["ask", "default"],
    ["edit", "auto-edit"],
    ["full", "yolo"],
  ] as const)("maps the level %s to %s", (autonomy, mode) => {
    expect(qwen.launch({ ...request, autonomy }).argv).toContain(`--approval-mode=${mode}`);
  });

  it("is pointed to Chat Completions at the gateway", () => {
    expect(qwen.launch(request).env).toMatchObject({
      OPENAI_BASE_URL: "http://model.agentbox.internal/openai/v1",
      OPENAI_API_KEY: "sk-agentbox-placeholder",
      OPENAI_MODEL: "some-model",
    });
  });

  it("passes its options on", () => {
    const options = qwen.options.parse({ append_system_prompt: "-be kind", max_session_turns: 7 });
    const { argv } = qwen.launch({ ...request, options });
    expect(argv).toContain("--append-system-prompt=-be kind");
    expect(argv).toContain("--max-session-turns=7");
  });

  it("logs hooks only where there is no structured output", () => {
    expect(settingsOf({})["hooks"]).toBeUndefined();
    expect(JSON.stringify(settingsOf({ mode: "interactive" })["hooks"])).toContain(boxPaths.hooksFile);
  });
});

describe("output", () => {
  it("tells a recorded run in which it wrote a file and ran a command", () => {
    const events = readAll(qwen.readOutput!(), "qwen-work");
    const answer = ["thinking", "message"];
    const call = [...answer, "tool_called", "usage", "tool_answered"];
    expect(events.map((event) => event.kind)).toEqual([
      "session_started",
      ...call,
      "file_changed",
      ...call,
      ...answer,
      "usage",
      "turn_done",
    ]);
    expect(events[3]).toMatchObject({ tool: "write_file", summary: "/workspace/hello.txt" });
    expect(events[4]).toEqual({
      kind: "usage",
      model: "m1",
      usage: { input: 1400, output: 300, cached: 400, cacheWrite: 0, reasoning: 0 },
    });
    expect(events[6]).toEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("does not believe the success of a run that the model refused", () => {
    expect(recorded("qwen-refused")).toContain('"is_error":false');
    expect(readAll(qwen.readOutput!(), "qwen-refused").slice(-2)).toEqual([
      { kind: "error", message: "[API Error: 401 Scripted error 401]", isFatal: true },
      { kind: "turn_done", isError: true, text: "[API Error: 401 Scripted error 401]" },
    ]);
  });
});

describe("hooks", () => {
  it("tell a recorded turn in its terminal", () => {
    const events = readAll(qwen.readHooks!(), "qwen-hooks");
    expect(events.map((event) => event.kind)).toEqual([
      "session_started",
      "message",
      "tool_called",
      "tool_answered",
      "file_changed",
      "tool_called",
      "tool_answered",
      "message",
      "turn_done",
    ]);
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("tell that it waits for approval", () => {
    expect(readAll(qwen.readHooks!(), "qwen-asks").at(-1)).toEqual({
      kind: "approval_asked",
      what: "write_file: /workspace/hello.txt",
    });
  });
});

it("reads whatever comes", () => {
  const types = ["system", "assistant", "user", "result"];
  const names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "StopFailure"];
  const part = fc.record({ type: fc.constantFrom("text", "thinking", "tool_use", "tool_result", "x") });
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        type: fc.constantFrom(...types),
        hook_event_name: fc.constantFrom(...names),
        message: fc.record({ content: fc.oneof(fc.array(part), fc.jsonValue()), usage: fc.jsonValue() }),
        result: fc.jsonValue(),
        prompt: fc.jsonValue(),
        tool_input: fc.jsonValue(),
      })
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      for (const read of [qwen.readOutput!(), qwen.readHooks!()]) {
        for (const event of lines.flatMap(read)) AgentEvent.parse(event);
      }
    }),
  );
});
