import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import type { LaunchRequest } from "../../contract/agent.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { boxEnv } from "../../contract/network/box-env.ts";
import { codex } from "./codex.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "--fix it",
  newConversation: "0b0e6f5c-1111-4222-8333-444444444444",
  autonomy: "full",
  options: {},
  args: ["--ephemeral"],
  model: "gpt-5.5",
  program: "/opt/agentbox/agents/codex/codex",
  endpoint: { baseUrl: "http://model.agentbox.internal/openai", token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: boxPaths.workspace,
  home: boxPaths.home,
};
const launch = (changes: Partial<LaunchRequest> = {}) => codex.launch({ ...request, ...changes });
const settingsOf = (changes: Partial<LaunchRequest> = {}) => {
  const file = launch(changes).files.find(({ path }) => path === ".codex/config.toml");
  return parse(file!.text);
};
const linesOf = (name: string) =>
  readFileSync(new URL(`../fixtures/codex-${name}.jsonl`, import.meta.url), "utf8").split("\n");
const outputOf = (name: string) => linesOf(name).flatMap(codex.readOutput!());
const kindsOf = (events: readonly { kind: string }[]) => events.map(({ kind }) => kind);

describe("launch", () => {
  it("streams structured output, and takes the task for a text", () => {
    const [, ...words] = launch().argv;
    expect(words).toEqual(["exec", "--json", "--skip-git-repo-check", "--ephemeral", "--", "--fix it"]);
    expect(launch({ mode: "interactive", task: undefined, args: [] }).argv.slice(1)).toEqual([
      "--no-daemon",
      "--dangerously-bypass-hook-trust",
    ]);
  });

  it("goes on with the conversation it is told, in both modes", () => {
    const resume = { conversation: "abc" };
    expect(launch({ resume }).argv.slice(1, 3)).toEqual(["exec", "resume"]);
    expect(launch({ resume }).argv.slice(-3)).toEqual(["--", "abc", "--fix it"]);
    const interactive = launch({ resume, mode: "interactive", task: undefined }).argv;
    expect([interactive[1], ...interactive.slice(-2)]).toEqual(["resume", "--", "abc"]);
    expect(launch({ resume: {} }).argv).toContain("--last");
  });

  it("has a provider of its own, over requests or over a WebSocket", () => {
    const provider = (websocket: boolean) => ({
      name: "AgentBox",
      base_url: "http://model.agentbox.internal/openai/v1",
      env_key: "AGENTBOX_MODEL_KEY",
      wire_api: "responses",
      supports_websockets: websocket,
    });
    expect(settingsOf()["model_providers"]).toEqual({ agentbox: provider(false) });
    expect(settingsOf({ options: { websocket: true } })["model_providers"]).toEqual({
      agentbox: provider(true),
    });
    expect(launch().env).toEqual({ AGENTBOX_MODEL_KEY: "sk-agentbox-placeholder" });
  });

  it("searches the web only when told, because that is not seen by the gate", () => {
    expect(settingsOf()["web_search"]).toBe("disabled");
    expect(settingsOf({ options: { web_search: true } })["web_search"]).toBe("cached");
  });

  it("leads https nowhere in the terminal, but not for commands and MCP servers", () => {
    const mcp: LaunchRequest["mcp"] = [
      { transport: "http", name: "web", url: "https://example.com/mcp", headers: { a: "b" } },
      { transport: "stdio", name: "files", command: "files", args: ["-a"], env: { A: "b" } },
    ];
    const { env } = launch({ mode: "interactive", mcp });
    expect(env).toMatchObject({
      HTTPS_PROXY: "http://127.0.0.1:9",
      NO_PROXY: `${boxEnv["NO_PROXY"]},example.com`,
    });
    expect(env).not.toHaveProperty("HTTP_PROXY");
    expect(settingsOf({ mcp })).toMatchObject({
      shell_environment_policy: { set: boxEnv },
      mcp_servers: {
        web: { url: "https://example.com/mcp", http_headers: { a: "b" } },
        files: { command: "files", args: ["-a"], env: { ...boxEnv, A: "b" } },
      },
    });
  });

  it("never uses its own sandbox", () => {
    for (const autonomy of ["ask", "edit", "full"] as const)
      expect(settingsOf({ autonomy })["sandbox_mode"]).toBe("danger-full-access");
  });

  it("asks in the terminal about everything, or about all but edits, or never", () => {
    const settings = (autonomy: "ask" | "edit" | "full") => settingsOf({ mode: "interactive", autonomy });
    expect(settings("full")).toMatchObject({
      approval_policy: "never",
      projects: { "/workspace": { trust_level: "trusted" } },
    });
    for (const level of ["ask", "edit"] as const) {
      expect(settings(level)).not.toHaveProperty("approval_policy");
      expect(settings(level)).toMatchObject({ projects: { "/workspace": { trust_level: "untrusted" } } });
    }
    const allows = (level: "ask" | "edit") => JSON.stringify(settings(level)["hooks"]).includes("allow");
    expect([allows("ask"), allows("edit")]).toEqual([false, true]);
  });

  it("refuses, without a terminal, what it would have to ask for", () => {
    const matcherOf = (autonomy: "ask" | "edit") =>
      settingsOf({ autonomy })["hooks"] as { PreToolUse: { matcher: string }[] };
    expect(matcherOf("ask").PreToolUse[0]?.matcher).toBe("^(Bash|mcp__.*|apply_patch)$");
    expect(matcherOf("edit").PreToolUse[0]?.matcher).toBe("^(Bash|mcp__.*)$");
    expect(settingsOf()["hooks"]).toEqual({});
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
      "turn_done",
    ]);
    expect(events[0]).toMatchObject({ conversation: "01a1df22-5b23-7051-b736-e732208feead" });
    expect(events).toContainEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("tells that the model refused, and nothing of its warning about our hooks", () => {
    expect(kindsOf(outputOf("error"))).toEqual([
      "session_started",
      ...Array<string>(6).fill("error"),
      "turn_done",
    ]);
    expect(outputOf("error").at(-1)).toMatchObject({
      isError: true,
      text: expect.stringContaining("401") as string,
    });
    expect(kindsOf(outputOf("refused-tools"))).not.toContain("error");
  });

  it("tells of a tool that is only told when it is done", () => {
    const item = {
      id: "1",
      type: "mcp_tool_call",
      server: "cats",
      tool: "purr",
      arguments: { path: "sofa" },
    };
    const error = { message: "asleep" };
    const line = JSON.stringify({ type: "item.completed", item: { ...item, status: "failed", error } });
    expect(codex.readOutput!()(line)).toEqual([
      { kind: "tool_called", id: "1", tool: "cats.purr", summary: "sofa" },
      { kind: "tool_answered", id: "1", isError: true, summary: "asleep" },
    ]);
  });
});

it("tells from its hooks who asks for what", () => {
  const events = linesOf("hooks").flatMap(codex.readHooks!());
  expect(kindsOf(events)).toEqual([
    "session_started",
    "message",
    "tool_called",
    "tool_answered",
    "file_changed",
    "tool_called",
    "approval_asked",
    "tool_answered",
    "message",
    "turn_done",
  ]);
  expect(events[0]).toMatchObject({ conversation: "01a1df25-cada-7580-80c0-130182c15927" });
  expect(events[2]).toMatchObject({ tool: "apply_patch", summary: "./hello.txt" });
  expect(events).toContainEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
  expect(codex.readHooks!()('{"hook_event_name":"Interrupt"}')).toEqual([
    { kind: "turn_done", isError: true, text: "Interrupted." },
  ]);
});
