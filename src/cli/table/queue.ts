import type { CommandSpec } from "../command.ts";
import { boxFlags } from "./flags.ts";

const { name: _name, ...taskFlags } = boxFlags;

export const queue: readonly CommandSpec[] = [
  {
    name: "queue",
    group: "Work",
    summary: "Queue tasks: each gets a box of its own, a few run at a time.",
    usage: "queue [TASK…] | add FILE | ls | rm ID… | move ID | … [flags]",
    examples: [
      'agentbox queue "fix the tests" "update the docs" --agent claude',
      "agentbox queue add tasks.txt --agent codex --at-once 3",
      "agentbox queue add tasks.toml    [[task]] each: task, agent, budget, timeout",
      "agentbox queue --total-usd 20            no further task starts when all have cost so much",
      "agentbox queue ls --watch",
      "agentbox queue move 7 --before 3",
      "agentbox queue wait && agentbox inbox",
    ],
    flags: {
      agent: { type: "text", value: "AGENT", summary: "The agent for tasks that name none." },
      "at-once": { type: "text", value: "N", summary: "How many of your tasks run at a time; default: 2." },
      before: { type: "text", value: "ID", summary: "Where move puts it; without it, at the end." },
      "total-usd": {
        type: "text",
        value: "N",
        summary: "Most that all tasks may cost together; 0: any.",
      },
      "total-tokens": { type: "text", value: "N", summary: "The same in tokens." },
      timeout: { type: "text", value: "TIME", summary: "End each task after this long." },
      watch: { type: "switch", short: "w", summary: "Redraw the queue when it changes." },
      "no-install": { type: "switch", summary: "Do not install an agent that is missing." },
      ...taskFlags,
    },
    takes: [0, Infinity],
    completes: ["add", "ls", "pause", "resume", "rm", "retry", "move", "wait"],
    completesNext: "file",
    load: () => import("../commands/queue.ts"),
  },
];
