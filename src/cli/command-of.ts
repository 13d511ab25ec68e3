import type { AgentEntry, Launch } from "../contract/agent.ts";

/** The command of an entry that only runs what was typed; it needs neither a model nor a task. */
export const commandOf = (entry: AgentEntry, args: readonly string[]): Launch =>
  entry.launch({
    mode: "headless",
    newConversation: "",
    autonomy: "full",
    options: {},
    args,
    program: "",
    endpoint: { baseUrl: "", token: "" },
    mcp: [],
    workspace: "/workspace",
    home: "/home/agent",
  });
