import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type LaunchRequest, autonomyLevels } from "../../contract/agent.ts";
import { maxSaidText } from "../../contract/agent-events.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { claude } from "./claude.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "--fix it",
  newConversation: "0b0e6f5c-1111-4222-8333-444444444444",
  autonomy: "full",
  options: {},
  args: ["--debug"],
  program: "/opt/agentbox/agents/claude/claude",
  endpoint: { baseUrl: "http://model.agentbox.internal/anthropic", token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: boxPaths.workspace,
  home: boxPaths.home,
};
const launch = (changes: Partial<LaunchRequest> = {}) => claude.launch({ ...request, ...changes });
const fileOf = (path: string, changes: Partial<LaunchRequest> = {}) =>
  launch(changes).files.find((file) => file.path === path);
const linesOf = (name: string) =>
  readFileSync(new URL(`../fixtures/claude-${name}.jsonl`, import.meta.url), "utf8").split("\n");
const outputOf = (name: string) => linesOf(name).flatMap(claude.readOutput!());
const kindsOf = (events: readonly { kind: string }[]) => events.map(({ kind }) => kind);

describe("launch", () => {
  it("streams structured output, and takes the task for a text", () => {
    const { argv } = launch();
    expect(argv.slice(0, 5)).toEqual([
      request.program,
      "--print",
      "--output-format",
      "stream-json",
      "--verbose",
    ]);
    expect(argv.slice(-3)).toEqual(["--debug", "--", "--fix it"]);
    expect(launch({ mode: "interactive", task: undefined }).argv).not.toContain("--print");
  });

  it("begins with the id that was chosen and goes on with the same", () => {
    expect(launch().argv.join(" ")).toContain(`--session-id ${request.newConversation}`);
    const { argv } = launch({ resume: { conversation: "abc" } });
    expect(argv.join(" ")).toContain("--resume abc");
    expect(argv).not.toContain("--session-id");
  });

  it("maps each level of autonomy to a flag of its own", () => {
    const flags = autonomyLevels.map((autonomy) => launch({ autonomy }).argv.slice(7, 9).join(" "));
    expect(flags[0]).toBe("--permission-mode default");
    expect(flags[1]).toBe("--permission-mode acceptEdits");
    expect(flags[2]).toContain("--dangerously-skip-permissions");
  });

  it("passes options on, those for a task only with one", () => {
    const options = { effort: "high", max_turns: 3, fallback_model: "b", small_model: "c" };
    expect(launch({ options, model: "a" }).argv.join(" ")).toContain(
      "--model a --effort high --max-turns 3 --fallback-model b",
    );
    expect(launch({ options }).env["ANTHROPIC_DEFAULT_HAIKU_MODEL"]).toBe("c");
    expect(launch({ options, mode: "interactive" }).argv).not.toContain("--max-turns");
  });

  it("answers every dialog beforehand and logs hooks only where there is no structured output", () => {
    const home = JSON.parse(fileOf(".claude.json")!.text) as object;
    expect(home).toMatchObject({
      hasCompletedOnboarding: true,
      projects: { "/workspace": { hasTrustDialogAccepted: true } },
    });
    const settings = ".agentbox/claude-settings.json";
    expect(fileOf(settings)!.text).not.toContain(boxPaths.hooksFile);
    expect(fileOf(settings, { mode: "interactive" })!.text).toContain(boxPaths.hooksFile);
  });

  it("gives MCP servers, instructions and skills where it looks for them", () => {
    const changes: Partial<LaunchRequest> = {
      mcp: [{ transport: "http", name: "web", url: "https://example.com/mcp", headers: { a: "b" } }],
      instructions: "Be kind.",
      skillsDir: boxPaths.skills,
    };
    expect(JSON.parse(fileOf(".agentbox/claude-mcp.json", changes)!.text)).toEqual({
      mcpServers: { web: { type: "http", url: "https://example.com/mcp", headers: { a: "b" } } },
    });
    expect(launch(changes).argv).toContain("--strict-mcp-config");
    expect(fileOf(".claude/CLAUDE.md", changes)!.text).toBe("Be kind.");
    expect(launch(changes).links).toEqual({ ".claude/skills": boxPaths.skills });
  });
});

describe("output", () => {
  it("tells a piece of work from beginning to end", () => {
    const events = outputOf("work");
    expect(kindsOf(events).filter((kind) => kind !== "thinking" && kind !== "message")).toEqual([
      "session_started",
      "tool_called",
      "tool_answered",
      "file_changed",
      "tool_called",
      "tool_answered",
      "usage",
      "turn_done",
    ]);
    expect(events).toContainEqual({ kind: "thinking", text: "Let me think about that." });
    expect(events).toContainEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "tool_called", tool: "Bash", summary: "echo ran > ran.txt" }),
    );
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("tells refused tools and retries", () => {
    const answers = outputOf("refused-tools").filter(({ kind }) => kind === "tool_answered");
    expect(answers.map((event) => "isError" in event && event.isError)).toEqual([true, true]);
    expect(outputOf("retry")[1]).toEqual({
      kind: "error",
      message: "The model did not answer (429 rate_limit); retry 1 of 10.",
      isFatal: false,
    });
  });

  it("says why a conversation could not be resumed", () => {
    const line = {
      type: "result",
      subtype: "error_during_execution",
      is_error: true,
      errors: ["No conversation."],
    };
    expect(claude.readOutput!()(JSON.stringify(line))).toEqual([
      { kind: "turn_done", isError: true, text: "No conversation." },
    ]);
  });

  it("counts all input, also what came from the cache", () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 400,
    };
    expect(claude.readOutput!()(JSON.stringify({ type: "result", usage }))[0]).toEqual({
      kind: "usage",
      usage: { input: 431, output: 2, cached: 30, cacheWrite: 400, reasoning: 0 },
    });
  });

  it("cuts what is too long", () => {
    const message = { content: [{ type: "text", text: "x".repeat(2 * maxSaidText) }] };
    const [event] = claude.readOutput!()(JSON.stringify({ type: "assistant", message }));
    expect(event).toMatchObject({ kind: "message", text: "x".repeat(maxSaidText) });
  });
});

it("tells from its hooks who asks for what", () => {
  const events = linesOf("hooks").flatMap(claude.readHooks!());
  expect(kindsOf(events)).toEqual([
    "session_started",
    "message",
    "tool_called",
    "approval_asked",
    "tool_answered",
    "file_changed",
    "tool_called",
    "approval_asked",
    "tool_answered",
    "message",
    "turn_done",
  ]);
  expect(events[0]).toMatchObject({ conversation: "33333333-3333-4333-8333-333333333333" });
  expect(events).toContainEqual({ kind: "approval_asked", what: "Bash: echo ran > ran.txt" });
});

it("tells from its hooks that a tool or a whole turn failed", () => {
  const read = claude.readHooks!();
  const tool = {
    hook_event_name: "PostToolUseFailure",
    tool_name: "Bash",
    tool_use_id: "1",
    error: "Exit code 3",
  };
  expect(read(JSON.stringify(tool))).toEqual([
    { kind: "tool_answered", id: "1", isError: true, summary: "Exit code 3" },
  ]);
  const turn = {
    hook_event_name: "StopFailure",
    error: "authentication_failed",
    last_assistant_message: "API Error",
  };
  expect(read(JSON.stringify(turn))).toEqual([{ kind: "turn_done", isError: true, text: "API Error" }]);
});
