import type { CommandSpec } from "../command.ts";

export const logins: readonly CommandSpec[] = [
  {
    name: "login",
    group: "Secrets",
    summary: "Let boxes of an agent use your subscription, without holding it.",
    usage: "login AGENT [flags], login ls, login rm AGENT",
    examples: [
      "agentbox login claude                    takes the login that claude made on this host",
      "agentbox login claude --token            asks for what claude setup-token printed",
      "agentbox login codex --from ~/.codex/auth.json --yes",
      "agentbox login ls",
      "agentbox login rm codex",
    ],
    flags: {
      from: { type: "text", value: "FILE", summary: "What the agent's program keeps of its login." },
      "from-command": {
        type: "text",
        value: "COMMAND",
        summary: "The same, as a command prints it.",
      },
      token: { type: "switch", summary: "A token made for this, typed or on stdin." },
      yes: {
        type: "switch",
        short: "y",
        summary: "Let every box of it use it; rm: do not ask.",
      },
    },
    takes: [1, 2],
    completes: ["claude", "codex", "ls", "rm"],
    load: () => import("../commands/login.ts"),
  },
];
