import { launchShell } from "../../agents/launch/launch-shell.ts";
import type { AgentEntry, Launch } from "../../contract/agent.ts";
import type { Catalogue } from "../command.ts";

/** The command of a box that was made for one; undefined when its agent is none that only runs what was typed. */
export async function findCommandOf(
  { name, args }: { readonly name: string; readonly args: readonly string[] },
  loadCatalogue: () => Promise<Pick<Catalogue, "agents">>,
): Promise<Launch | undefined> {
  // What nearly everybody runs needs no catalogue: loading its schemas takes longer than many a command.
  if (name === "shell") return launchShell({ mode: "headless", args });
  const entry = (await loadCatalogue()).agents[name];
  return entry?.kind === "command" ? commandOf(entry, args) : undefined;
}

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
