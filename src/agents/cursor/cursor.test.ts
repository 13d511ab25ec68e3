import { describe, expect, it } from "vitest";
import type { LaunchRequest } from "../../contract/agent.ts";
import { cursor } from "./cursor.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "-fix it",
  newConversation: "11111111-2222",
  autonomy: "full",
  options: {},
  args: [],
  program: "/cursor-agent",
  endpoint: { baseUrl: "http://model.agentbox.internal/none", token: "placeholder" },
  mcp: [],
  workspace: "/workspace",
  home: "/home/agent",
};

describe("cursor", () => {
  it("prints what it does and asks nothing", () => {
    const { argv, env } = cursor.launch({ ...request, model: "auto", options: { mode: "plan" } });
    expect(argv).toEqual([
      "/cursor-agent",
      "--print",
      "--output-format",
      "stream-json",
      "--trust",
      "--force",
      "--sandbox",
      "disabled",
      "--model",
      "auto",
      "--mode",
      "plan",
      "--",
      "-fix it",
    ]);
    expect(env).toEqual({});
    expect(cursor.api).toBeUndefined();
    expect(cursor.hosts).toContain("*.cursor.sh");
  });

  it("is forced with full autonomy only", () => {
    for (const autonomy of ["ask", "edit"] as const)
      expect(cursor.launch({ ...request, autonomy }).argv).not.toContain("--force");
  });

  it("goes on with a conversation", () => {
    const resumed = cursor.launch({ ...request, resume: { conversation: "c-1" }, instructions: "Be kind." });
    expect(resumed.argv.slice(-4)).toEqual(["--resume", "c-1", "--", "-fix it"]);
    expect(cursor.launch({ ...request, resume: {} }).argv).toContain("--continue");
  });

  it("reads the documented stream", () => {
    const read = cursor.readOutput!();
    const events = [
      { type: "system", subtype: "init", session_id: "s-1", model: "Auto", cwd: "/workspace" },
      { type: "user", message: { role: "user", content: [{ type: "text", text: "Fix it" }] } },
      { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "I will." }] } },
      {
        type: "tool_call",
        subtype: "started",
        call_id: "1",
        tool_call: { shellToolCall: { args: { command: "ls" } } },
      },
      {
        type: "tool_call",
        subtype: "completed",
        call_id: "1",
        tool_call: { shellToolCall: { args: { command: "ls" }, result: { rejected: { reason: "no" } } } },
      },
      {
        type: "tool_call",
        subtype: "completed",
        call_id: "2",
        tool_call: {
          writeToolCall: { args: { path: "a.txt" }, result: { success: { path: "/workspace/a.txt" } } },
        },
      },
      { type: "result", subtype: "success", is_error: false, result: "Done.", session_id: "s-1" },
    ].flatMap((line) => read(JSON.stringify(line)));
    expect(events).toEqual([
      { kind: "session_started", conversation: "s-1", model: "Auto" },
      { kind: "message", role: "person", text: "Fix it" },
      { kind: "message", role: "agent", text: "I will." },
      { kind: "tool_called", id: "1", tool: "shell", summary: "ls" },
      { kind: "tool_answered", id: "1", isError: true, summary: "rejected" },
      { kind: "tool_answered", id: "2", isError: false, summary: "" },
      { kind: "file_changed", path: "/workspace/a.txt", change: "changed" },
      { kind: "turn_done", isError: false, text: "Done." },
    ]);
  });
});
