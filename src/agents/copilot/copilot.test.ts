import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { LaunchRequest } from "../../contract/agent.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import { copilot } from "./copilot.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "--fix it",
  newConversation: "0b0e6f5c-1111-4222-8333-444444444444",
  autonomy: "full",
  options: {},
  args: ["--no-color"],
  model: "gpt-5.5",
  program: "/opt/agentbox/agents/copilot/copilot",
  endpoint: { baseUrl: "http://model.agentbox.internal/openai", token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: boxPaths.workspace,
  home: boxPaths.home,
};
const launch = (changes: Partial<LaunchRequest> = {}) => copilot.launch({ ...request, ...changes });
const fileOf = (path: string, changes: Partial<LaunchRequest> = {}) =>
  launch(changes).files.find((file) => file.path === path);
const linesOf = (name: string) =>
  readFileSync(new URL(`../fixtures/copilot-${name}.jsonl`, import.meta.url), "utf8").split("\n");
const outputOf = (name: string) => linesOf(name).flatMap(copilot.readOutput!());
const kindsOf = (events: readonly { kind: string }[]) => events.map(({ kind }) => kind);

describe("launch", () => {
  it("streams structured output, and takes the task for a text", () => {
    expect(launch().argv).toContain("--output-format=json");
    expect(launch().argv.slice(-2)).toEqual(["--no-color", "--prompt=--fix it"]);
    const interactive = launch({ mode: "interactive" }).argv;
    expect(interactive.at(-1)).toBe("--interactive=--fix it");
    expect(interactive).not.toContain("--output-format=json");
  });

  it("begins with the id that was chosen and goes on with the same", () => {
    expect(launch().argv).toContain(`--session-id=${request.newConversation}`);
    const { argv } = launch({ resume: { conversation: "abc" } });
    // --session-id would begin a new conversation if it does not exist.
    expect(argv).toContain("--resume=abc");
    expect(argv.join(" ")).not.toContain("--session-id");
  });

  it("maps each level of autonomy to its flags", () => {
    expect(launch().argv).toContain("--allow-all");
    expect(launch({ autonomy: "edit" }).argv).toContain("--allow-tool=write");
    expect(launch({ autonomy: "ask" }).argv.join(" ")).not.toContain("--allow");
  });

  it("is offline but for the gateway, in the API that fits the model", () => {
    expect(launch().env).toMatchObject({
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: "http://model.agentbox.internal/openai/v1",
      COPILOT_PROVIDER_API_KEY: "sk-agentbox-placeholder",
      COPILOT_PROVIDER_WIRE_API: "responses",
      COPILOT_MODEL: "gpt-5.5",
    });
    expect(launch({ model: "qwen3-coder" }).env["COPILOT_PROVIDER_WIRE_API"]).toBe("completions");
    const options = { wire_api: "completions", websocket: true };
    expect(launch({ options }).env).not.toHaveProperty("COPILOT_PROVIDER_TRANSPORT");
    expect(launch({ options: { websocket: true } }).env["COPILOT_PROVIDER_TRANSPORT"]).toBe("websockets");
  });

  it("trusts the workspace and logs hooks only where there is no structured output", () => {
    expect(fileOf(".copilot/config.json")).toMatchObject({
      how: "absent",
      text: expect.stringContaining(boxPaths.workspace) as string,
    });
    const hooks = ".copilot/hooks/agentbox.json";
    expect(fileOf(hooks)!.text).not.toContain(boxPaths.hooksFile);
    expect(fileOf(hooks, { mode: "interactive" })!.text).toContain(boxPaths.hooksFile);
  });

  it("gives MCP servers, instructions and skills where it looks for them", () => {
    const changes: Partial<LaunchRequest> = {
      mcp: [{ transport: "stdio", name: "files", command: "files", args: ["-a"], env: { A: "b" } }],
      instructions: "Be kind.",
      skillsDir: boxPaths.skills,
    };
    expect(JSON.parse(fileOf(".copilot/mcp-config.json", changes)!.text)).toEqual({
      mcpServers: { files: { command: "files", args: ["-a"], env: { A: "b" } } },
    });
    expect(fileOf(".copilot/copilot-instructions.md", changes)!.text).toBe("Be kind.");
    expect(launch(changes).links).toEqual({ ".copilot/skills": boxPaths.skills });
  });
});

describe("output", () => {
  it("tells a piece of work from beginning to end", () => {
    const events = outputOf("work");
    expect(kindsOf(events)).toEqual([
      "message",
      "message",
      "tool_called",
      "tool_answered",
      "file_changed",
      "message",
      "tool_called",
      "tool_answered",
      "message",
      "session_started",
      "turn_done",
    ]);
    expect(events[2]).toMatchObject({ tool: "apply_patch", summary: "./hello.txt" });
    expect(events).toContainEqual({ kind: "file_changed", path: "/workspace/hello.txt", change: "created" });
    expect(events.at(-1)).toEqual({ kind: "turn_done", isError: false, text: "done" });
  });

  it("tells refused tools and a model that refuses", () => {
    const answers = outputOf("refused-tools").filter(({ kind }) => kind === "tool_answered");
    expect(answers.map((event) => "isError" in event && event.isError)).toEqual([true, true]);
    const errors = outputOf("error").filter((event) => event.kind === "error");
    expect(errors.map(({ isFatal }) => isFatal)).toEqual([false, false, false, true]);
    expect(outputOf("error").at(-1)).toMatchObject({ kind: "turn_done", isError: true });
  });
});

it("tells from its hooks who asks for what, and which answer belongs to which call", () => {
  const events = linesOf("hooks").flatMap(copilot.readHooks!());
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
    "turn_done",
  ]);
  expect(events[4]).toMatchObject({ id: (events[2] as { id: string }).id, isError: false });
  expect(events[8]).toMatchObject({ id: (events[6] as { id: string }).id, isError: false });
  expect(events[3]).toEqual({ kind: "approval_asked", what: "Edit file: /workspace/hello.txt" });
});
