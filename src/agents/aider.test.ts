import { describe, expect, it } from "vitest";
import type { LaunchRequest } from "../contract/agent.ts";
import { aider } from "./aider.ts";

const request: LaunchRequest = {
  mode: "headless",
  task: "-fix it",
  newConversation: "11111111-2222",
  autonomy: "full",
  options: {},
  args: [],
  program: "/aider",
  endpoint: { baseUrl: "http://model.agentbox.internal/openai", token: "placeholder" },
  mcp: [],
  workspace: "/workspace",
  home: "/home/agent",
};

describe("aider", () => {
  it("works on a task without a question and without a look-up", () => {
    const { argv, env, files } = aider.launch({ ...request, instructions: "Be kind." });
    expect(argv[0]).toBe("/aider");
    expect(argv.at(-1)).toBe("--message=-fix it");
    expect(argv).toEqual(
      expect.arrayContaining([
        "--model=openai/gpt-5",
        "--weak-model=openai/gpt-5",
        "--openai-api-base=http://model.agentbox.internal/openai/v1",
        "--no-check-update",
        "--analytics-disable",
        "--no-gitignore",
        "--no-auto-commits",
        "--no-dirty-commits",
        "--chat-history-file=/home/agent/.aider/conversations/11111111-2222.md",
        "--read=/home/agent/.aider/instructions.md",
      ]),
    );
    expect(env["OPENAI_API_BASE"]).toBe("http://model.agentbox.internal/openai/v1");
    expect(files.map(({ path }) => path)).toContain(".aider/caches/model_prices_and_context_window.json");
  });

  it("may do what its autonomy says", () => {
    const flags = (mode: LaunchRequest["mode"], autonomy: LaunchRequest["autonomy"]) =>
      aider
        .launch({ ...request, mode, task: mode === "headless" ? "x" : undefined, autonomy })
        .argv.filter((flag) => flag === "--yes-always" || flag === "--chat-mode=ask");
    expect(flags("headless", "ask")).toEqual(["--chat-mode=ask"]);
    expect(flags("headless", "edit")).toEqual(["--yes-always"]);
    // With stdin closed each question gets its default, which runs commands too.
    expect(flags("headless", "full")).toEqual([]);
    expect(flags("interactive", "ask")).toEqual([]);
    expect(flags("interactive", "full")).toEqual(["--yes-always"]);
  });

  it("goes on with the file of the conversation, and never starts another silently", () => {
    const { argv } = aider.launch({ ...request, resume: { conversation: "../../abc" } });
    expect(argv).toContain("--chat-history-file=/home/agent/.aider/conversations/______abc.md");
    expect(argv).toContain("--restore-chat-history");
    expect(() => aider.launch({ ...request, resume: {} })).toThrow(
      expect.objectContaining({ code: "agent.no_conversation" }),
    );
  });

  it("chats on after a first prompt, which no shell ever reads", () => {
    const { argv } = aider.launch({ ...request, mode: "interactive", task: '"; touch /tmp/x; "' });
    expect(argv.slice(0, 2)).toEqual(["/bin/sh", "-c"]);
    expect(argv[2]).not.toContain("touch");
    expect(argv.slice(4, 6)).toEqual(["/aider", '--message="; touch /tmp/x; "']);
  });

  it("takes its options", () => {
    const options = { commits: true, weak_model: "small", edit_format: "whole", test_command: "npm test" };
    const { argv } = aider.launch({ ...request, options });
    expect(argv).toEqual(
      expect.arrayContaining([
        "--auto-commits",
        "--weak-model=openai/small",
        "--edit-format=whole",
        "--test-cmd=npm test",
      ]),
    );
    expect(argv).not.toContain("--no-dirty-commits");
  });
});
