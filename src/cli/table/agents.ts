import type { CommandSpec } from "../command.ts";

export const agents: readonly CommandSpec[] = [
  {
    name: "agents",
    group: "Host",
    summary: "List, install, update, remove or check the agents of this host.",
    usage: "agents [ls|add|update|rm|doctor] [NAME[@VERSION]] [flags]",
    examples: [
      "agentbox agents                          the catalogue, and what is installed",
      "agentbox agents add claude               the version AgentBox was tested with",
      "agentbox agents add codex@0.166.0 --project  pinned in agentbox.lock here",
      "agentbox agents add cursor --from ~/.local/share/cursor-agent",
      "agentbox agents update --latest claude   the newest there is",
      "agentbox agents rm claude@2.1.196",
      "agentbox agents doctor                   reads everything again and compares",
    ],
    flags: {
      from: {
        type: "text",
        value: "PATH",
        summary: "With add: this program or directory, not a registry's.",
      },
      project: {
        type: "switch",
        summary: "With add, update: pin it in agentbox.lock here, too.",
      },
      latest: { type: "switch", summary: "With update: the newest version, not the tested one." },
    },
    takes: [0, 32],
    completes: ["ls", "add", "update", "rm", "doctor"],
    completesNext: "agent",
    load: () => import("../commands/agents.ts"),
  },
];
