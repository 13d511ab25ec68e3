import type { CommandSpec } from "../command.ts";
import { boxFlags, follow, since } from "./flags.ts";

const boxCommand = (
  name: string,
  summary: string,
  load: CommandSpec["load"],
  more: Partial<Pick<CommandSpec, "flags" | "takes" | "usage" | "examples" | "completes">> = {},
): CommandSpec => ({
  name,
  group: "Boxes",
  summary,
  usage: `${name} BOX…`,
  examples: [`agentbox ${name} shop`],
  flags: {},
  takes: [1, Infinity],
  completes: "box",
  load,
  ...more,
});

const lifecycle = () => import("../commands/lifecycle.ts");

export const boxes: readonly CommandSpec[] = [
  boxCommand("create", "Make a box without starting anything in it.", () => import("../commands/create.ts"), {
    usage: "create [AGENT] [flags]",
    completes: "agent",
    examples: ["agentbox create shell --name shop --memory 2GiB"],
    flags: {
      ...boxFlags,
      start: { type: "switch", summary: "Start it, too." },
      quiet: { type: "switch", short: "q", summary: "Only the name, and no notes." },
    },
    takes: [0, 1],
  }),
  boxCommand("start", "Start a stopped box.", lifecycle),
  boxCommand("stop", "Stop a box: ask first, then by force.", lifecycle, {
    usage: "stop BOX… [--grace TIME]",
    examples: ["agentbox stop shop --grace 30s"],
    flags: { grace: { type: "text", value: "TIME", summary: "How long to wait before force." } },
  }),
  boxCommand("restart", "Stop and start a box.", lifecycle),
  boxCommand(
    "move",
    "Move a box to another runtime; its files and identity stay.",
    () => import("../commands/move.ts"),
    {
      usage: "move BOX --runtime NAME [--yes]",
      examples: ["agentbox move shop --runtime docker"],
      flags: {
        runtime: { type: "text", value: "NAME", summary: "The runtime to move to." },
        yes: { type: "switch", short: "y", summary: "Stop a running box without asking." },
      },
      takes: [1, 1],
    },
  ),
  boxCommand("pause", "Freeze everything in a box.", lifecycle),
  boxCommand("resume", "Let a paused box go on.", lifecycle),
  boxCommand("rm", "Remove a box and its files.", () => import("../commands/rm.ts"), {
    usage: "rm BOX… [--force] [--purge]",
    examples: ["agentbox rm shop", "agentbox rm --force shop old"],
    flags: {
      force: {
        type: "switch",
        short: "f",
        summary: "Also when it is running, or has unmerged work.",
      },
      purge: { type: "switch", summary: "Keep nothing that could be restored." },
    },
  }),
  boxCommand(
    "restore",
    "List removed boxes, or bring one back with its work.",
    () => import("../commands/restore.ts"),
    {
      usage: "restore [NAME] [--as NAME]",
      examples: [
        "agentbox restore                         list them",
        "agentbox restore shop --as shop-again",
      ],
      flags: { as: { type: "text", value: "NAME", summary: "Name of the box; default: the one it had." } },
      takes: [0, 1],
      completes: "removed",
    },
  ),
  boxCommand("prune", "Remove all stopped boxes.", () => import("../commands/prune.ts"), {
    usage: "prune [--removed] [flags]",
    examples: [
      "agentbox prune --dry-run",
      "agentbox prune --older-than 7d --yes",
      "agentbox prune --removed                 delete what `restore` lists",
    ],
    flags: {
      "older-than": {
        type: "text",
        value: "TIME",
        summary: "Only boxes that stopped at least this long ago.",
      },
      "dry-run": { type: "switch", summary: "Only say what would be removed." },
      yes: { type: "switch", short: "y", summary: "Do not ask; boxes with unmerged work stay." },
      force: { type: "switch", short: "f", summary: "Do not ask; boxes with unmerged work go, too." },
      removed: { type: "switch", summary: "Delete the work that is kept of removed boxes, instead." },
    },
    takes: [0, 0],
  }),
];

const lookCommands: readonly CommandSpec[] = [
  {
    name: "open",
    group: "Look",
    summary: "Open the dashboard, by a link that works once.",
    usage: "open [--print]",
    examples: ["agentbox open", "agentbox open --print"],
    flags: { print: { type: "switch", summary: "Only print the link." } },
    takes: [0, 0],
    load: () => import("../commands/open.ts"),
  },
  {
    ...boxCommand("ls", "List all boxes.", () => import("../commands/ls.ts")),
    usage: "ls [--filter KEY=VALUE] [--watch] [--quiet]",
    examples: [
      "agentbox ls",
      "agentbox ls --filter state=running --filter agent=claude",
      "agentbox ls --watch                      redrawn when something changes",
      "agentbox stop $(agentbox ls -q --filter project=shop)",
    ],
    flags: {
      filter: {
        type: "list",
        value: "KEY=VALUE",
        summary: "By name, state, agent, project, branch, needs …",
      },
      watch: { type: "switch", short: "w", summary: "Redraw on changes; no terminal: print them." },
      quiet: { type: "switch", short: "q", summary: "Only the names." },
    },
    takes: [0, 0],
  },
  {
    ...boxCommand(
      "inbox",
      "List boxes that need you, with the command for each.",
      () => import("../commands/inbox.ts"),
    ),
    usage: "inbox",
    examples: ["agentbox inbox", "agentbox inbox --json"],
    takes: [0, 0],
  },
  {
    ...boxCommand("inspect", "Show everything about a box.", () => import("../commands/inspect.ts")),
    takes: [1, 1],
    usage: "inspect BOX",
  },
  {
    ...boxCommand(
      "logs",
      "Show the conversation with the agent, or what a session or service has printed.",
      () => import("../commands/logs.ts"),
    ),
    usage: "logs BOX [flags]",
    examples: [
      "agentbox logs shop -f",
      "agentbox logs shop --json",
      "agentbox logs shop --raw --tail 50",
      "agentbox logs shop --source service:web",
    ],
    flags: {
      follow: follow("Follow what is printed."),
      tail: { type: "text", value: "N", summary: "Only the last lines, or entries of the conversation." },
      raw: { type: "switch", summary: "What the agent printed, byte for byte." },
      source: { type: "text", value: "NAME", summary: "main, another session, or service:NAME." },
    },
    takes: [1, 1],
  },
  {
    ...boxCommand(
      "ports",
      "Show which ports programs of a box listen on.",
      () => import("../commands/ports.ts"),
    ),
    usage: "ports BOX",
    examples: ["agentbox ports shop", "agentbox ports shop --json"],
    takes: [1, 1],
  },
  {
    ...boxCommand("preview", "See a port of a box in the browser.", () => import("../commands/preview.ts")),
    usage: "preview BOX [PORT] [--print] [--yes]",
    completesNext: "port",
    examples: [
      "agentbox preview shop                    the only port that it listens on",
      "agentbox preview shop 3000 --print",
    ],
    flags: {
      print: { type: "switch", summary: "Only print the address, which works once." },
      yes: { type: "switch", short: "y", summary: "Agree to show a box that has secrets in its reach." },
    },
    takes: [1, 2],
  },
  {
    ...boxCommand(
      "port-forward",
      "Reach ports of a box on this machine.",
      () => import("../commands/port-forward.ts"),
    ),
    usage: "port-forward BOX PORT[:LOCAL]…",
    examples: [
      "agentbox port-forward shop 5432          127.0.0.1:5432 is the box's, until ctrl-c",
      "agentbox port-forward shop 3000:8080 9229",
    ],
    takes: [2, 32],
    completesNext: "port",
  },
  {
    ...boxCommand("stats", "Show what boxes use.", () => import("../commands/stats.ts")),
    usage: "stats [BOX…] [--watch]",
    examples: ["agentbox stats", "agentbox stats shop --watch"],
    flags: { watch: { type: "switch", short: "w", summary: "Again every two seconds." } },
    takes: [0, Infinity],
  },
  {
    ...boxCommand("events", "Show what has happened.", () => import("../commands/events.ts")),
    usage: "events [flags]",
    examples: ["agentbox events --box shop --since 2h", "agentbox events -f --json"],
    flags: {
      follow: follow("Follow what happens."),
      after: { type: "text", value: "ID", summary: "Only events after this one." },
      since: since("All events since then, such as 2h."),
      box: { type: "text", value: "BOX", summary: "Only events of this box." },
      type: { type: "text", value: "TYPE", summary: "Only events of this type, such as box.started." },
      limit: { type: "text", value: "N", summary: "At most this many. Default without --since: 50." },
    },
    takes: [0, 0],
  },
];

export const look: readonly CommandSpec[] = lookCommands.map((spec) => ({ ...spec, group: "Look" }));
