import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LaunchRequest, LineReader } from "../../contract/agent.ts";
import { AgentEvent, maxSaidText } from "../../contract/agent-events.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { gemini } from "./gemini.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "--do it",
  newConversation: "0b0e6f5c-1111-4222-8333-444444444444",
  autonomy: "full",
  options: {},
  args: ["--debug"],
  program: "/opt/agentbox/agents/gemini/node_modules/.bin/gemini",
  endpoint: { baseUrl: "http://model.agentbox.internal/gemini", token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: boxPaths.workspace,
  home: boxPaths.home,
};

const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.jsonl`, import.meta.url), "utf8");
const readAll = (read: LineReader, name: string) => recorded(name).split("\n").flatMap(read);
const settingsOf = (changes: Partial<LaunchRequest>) => {
  const file = gemini
    .launch({ ...request, ...changes })
    .files.find((one) => one.path === ".gemini/settings.json");
  return JSON.parse(file?.text ?? "{}") as Record<string, Record<string, unknown>>;
};

describe("launch", () => {
  it("begins a conversation under the id that was chosen, and goes on with the same", () => {
    const fresh = gemini.launch(request).argv;
    expect(fresh).toContain(`--session-id=${request.newConversation}`);
    const again = gemini.launch({ ...request, resume: { conversation: "abc" } }).argv;
    expect(again).toContain("--resume=abc");
    expect(again.some((one) => one.startsWith("--session-id"))).toBe(false);
    expect(gemini.launch({ ...request, resume: {} }).argv).toContain("--resume=latest");
  });

  it("takes no task for a flag, in either mode", () => {
    expect(gemini.launch(request).argv).toContain("--prompt=--do it");
    const interactive = gemini.launch({ ...request, mode: "interactive" }).argv;
    expect(interactive).toContain("--prompt-interactive=--do it");
    expect(interactive).not.toContain("--output-format=stream-json");
  });

  it.each([
    ["ask", "default"],
    ["edit", "auto_edit"],
    ["full", "yolo"],
  ] as const)("maps the level %s to %s", (autonomy, mode) => {
    expect(gemini.launch({ ...request, autonomy }).argv).toContain(`--approval-mode=${mode}`);
  });

  it("logs hooks only where there is no structured output", () => {
    expect(settingsOf({})["hooks"]).toBeUndefined();
    const hooks = settingsOf({ mode: "interactive" })["hooks"];
    expect(Object.keys(hooks ?? {})).toContain("AfterAgent");
    expect(JSON.stringify(hooks)).toContain(boxPaths.hooksFile);
  });

  it("trusts MCP servers only when everything is allowed", () => {
    const mcp: LaunchRequest["mcp"] = [
      { transport: "stdio", name: "files", command: "files", args: ["-a"], env: { A: "b" } },
      { transport: "http", name: "web", url: "https://example.com/mcp", headers: { "x-a": "b" } },
      { transport: "sse", name: "old", url: "https://example.com/sse", headers: {} },
    ];
    expect(settingsOf({ mcp })["mcpServers"]).toEqual({
      files: { command: "files", args: ["-a"], env: { A: "b" }, trust: true },
      web: { httpUrl: "https://example.com/mcp", headers: { "x-a": "b" }, trust: true },
      old: { url: "https://example.com/sse", headers: {}, trust: true },
    });
    expect(settingsOf({ mcp, autonomy: "ask" })["mcpServers"]).toMatchObject({ files: { trust: false } });
  });

  it("puts instructions and skills where Gemini CLI looks", () => {
    const launch = gemini.launch({ ...request, instructions: "Be kind.", skillsDir: boxPaths.skills });
    expect(launch.files).toContainEqual({ path: ".gemini/GEMINI.md", text: "Be kind.", how: "replace" });
    expect(launch.links).toEqual({ ".gemini/skills": boxPaths.skills });
  });
});

describe("output", () => {
  it("tells a recorded run in which it wrote a file and ran a command", () => {
    const events = readAll(gemini.readOutput!(), "gemini-work");
    expect(events.map((event) => event.kind)).toEqual([
      "session_started",
      "message",
      "message",
      "tool_called",
      "tool_answered",
      "file_changed",
      "message",
      "tool_called",
      "tool_answered",
      "message",
      "usage",
      "usage",
      "turn_done",
    ]);
    expect(events[1]).toEqual({ kind: "message", role: "person", text: "write the file" });
    expect(events[2]).toEqual({ kind: "message", role: "agent", text: "I write the file." });
    expect(events[7]).toMatchObject({ tool: "run_shell_command", summary: "echo ran > ran.txt" });
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("tells a run that the model refused", () => {
    const events = readAll(gemini.readOutput!(), "gemini-refused");
    expect(events.slice(-2)).toMatchObject([
      { kind: "error", isFatal: true, message: expect.stringContaining("401") },
      { kind: "turn_done", isError: true },
    ]);
  });

  it("cuts an answer that comes in many long pieces", () => {
    const read = gemini.readOutput!();
    const piece = JSON.stringify({
      type: "message",
      role: "assistant",
      content: "x".repeat(3_000),
      delta: true,
    });
    for (let count = 0; count < 32; count++) expect(read(piece)).toEqual([]);
    expect(read('{"type":"result","status":"success"}')[0]).toMatchObject({ text: "x".repeat(maxSaidText) });
  });
});

describe("hooks", () => {
  it("tell a recorded turn in its terminal, with each answer beside its call", () => {
    const events = readAll(gemini.readHooks!(), "gemini-hooks");
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
    expect(events[4]).toEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
    expect(events[3]).toMatchObject({ id: (events[2] as { id: string }).id, isError: false });
    expect(events[5]).not.toMatchObject({ id: (events[2] as { id: string }).id });
  });

  it("tell a turn without an answer as one that failed", () => {
    const line =
      recorded("gemini-hooks")
        .split("\n")
        .find((one) => one.includes("AfterAgent")) ?? "{}";
    const refused = { ...(JSON.parse(line) as object), prompt_response: "[no response text]" };
    expect(gemini.readHooks!()(line).at(-1)).toMatchObject({ kind: "turn_done", isError: false });
    expect(gemini.readHooks!()(JSON.stringify(refused))).toMatchObject([
      { kind: "turn_done", isError: true },
    ]);
  });

  it("tell that it waits for approval", () => {
    expect(readAll(gemini.readHooks!(), "gemini-asks").at(-1)).toEqual({
      kind: "approval_asked",
      what: "Tool Confirm Write: hello.txt requires editing",
    });
  });
});

it("reads whatever comes", () => {
  const types = ["init", "message", "tool_use", "tool_result", "error", "result"];
  const names = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent"];
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .tuple(fc.constantFrom(...types), fc.constantFrom(...names), fc.dictionary(fc.string(), fc.jsonValue()))
      .map(([type, name, rest]) =>
        JSON.stringify({ ...rest, type, hook_event_name: name, stats: rest, error: rest }),
      ),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      for (const read of [gemini.readOutput!(), gemini.readHooks!()]) {
        for (const event of lines.flatMap(read)) AgentEvent.parse(event);
      }
    }),
  );
});
