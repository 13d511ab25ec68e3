import type { CommandSpec } from "../command.ts";
import { networkFlags, since } from "./flags.ts";

const box = { type: "text", value: "BOX", summary: "The box; the same as naming it first." } as const;

export const network: readonly CommandSpec[] = [
  {
    name: "policy",
    group: "Network",
    summary: "Show, explain, learn or change what a box may reach.",
    usage: "policy show|explain|learn|apply BOX [flags]",
    examples: [
      "agentbox policy show shop",
      "agentbox policy explain --box shop https://example.com/v1 -X POST",
      "agentbox policy learn shop               a section to paste into agentbox.toml",
      "agentbox policy apply shop               the project's manifest, as it is now",
      "agentbox policy apply shop --allow example.com",
    ],
    flags: {
      box,
      method: {
        type: "text",
        short: "X",
        value: "METHOD",
        summary: "With explain: the method. Default: GET.",
      },
      manifest: { type: "text", value: "FILE", summary: "With apply: this file, not the project's." },
      ...networkFlags,
      trust: { type: "text", value: "DIGEST", summary: "With apply: agree to exactly these requests." },
    },
    takes: [1, 3],
    completes: ["show", "explain", "learn", "apply"],
    completesNext: "box",
    load: () => import("../commands/policy.ts"),
  },
  {
    name: "net",
    group: "Network",
    summary: "Show which hosts a box has reached, and which it was denied.",
    usage: "net BOX [--since TIME] [--watch]",
    examples: ["agentbox net shop", "agentbox net shop --since 10m", "agentbox net shop --watch"],
    flags: {
      box,
      since: since("Only hosts and denials since then, such as 10m."),
      watch: { type: "switch", short: "w", summary: "Again every two seconds." },
    },
    takes: [0, 1],
    completes: "box",
    load: () => import("../commands/net.ts"),
  },
  {
    name: "approvals",
    group: "Network",
    summary: "Answer what boxes ask to reach, also what you missed.",
    usage: "approvals [ls | allow ID | deny ID] [flags]",
    examples: [
      "agentbox approvals",
      "agentbox approvals --watch               each question as it comes; one key answers",
      "agentbox approvals allow 7 --scope box --for 2h",
      "agentbox approvals deny 7                also takes a missed question off the list",
    ],
    flags: {
      scope: {
        type: "text",
        value: "SCOPE",
        choices: ["once", "box", "project"],
        summary: "A yes for once, this box or this project. Default: once.",
      },
      for: {
        type: "text",
        value: "TIME",
        summary: "How long a yes for a box or project holds. Default: 1d.",
      },
      watch: { type: "switch", short: "w", summary: "Show each question as it comes." },
    },
    takes: [0, 2],
    completes: ["ls", "allow", "deny"],
    load: () => import("../commands/approvals.ts"),
  },
];
