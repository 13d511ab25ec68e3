import type { CommandSpec } from "../command.ts";
import { boxFlags } from "./flags.ts";

const reviewCommand = (
  name: string,
  summary: string,
  load: CommandSpec["load"],
  more: Partial<
    Pick<CommandSpec, "flags" | "takes" | "usage" | "examples" | "passesExitCode" | "completesNext">
  >,
): CommandSpec => ({
  name,
  group: "Review",
  summary,
  usage: `${name} BOX`,
  examples: [`agentbox ${name} shop`],
  flags: {},
  takes: [1, 1],
  completes: "box",
  load,
  ...more,
});

const merge = () => import("../commands/merge.ts");
const pr = () => import("../commands/pr.ts");
const gateFlags: CommandSpec["flags"] = {
  digest: { type: "text", value: "DIGEST", summary: "The digest from diff --json." },
  unseen: { type: "switch", summary: "Also a state that you have not looked at." },
  "accept-danger": { type: "list", value: "KIND", summary: "Accept this kind of danger." },
  check: { type: "switch", summary: "Run the checks first." },
  "skip-checks": { type: "switch", summary: "Also when checks have not passed." },
};
const pushFlags: CommandSpec["flags"] = {
  branch: { type: "text", value: "NAME", summary: "The branch to push. Default: agentbox/BOX." },
  base: { type: "text", value: "BRANCH", summary: "The branch the work is for. Default: the remote's." },
  title: { type: "text", value: "TEXT", summary: "Of the commit and the pull request." },
  mode: {
    type: "text",
    value: "MODE",
    choices: ["squash", "commits"],
    summary: "One commit, or the agent's own.",
  },
  remote: { type: "text", value: "NAME", summary: "Remote of the project. Default: origin." },
  secret: { type: "text", value: "NAME", summary: "Secret of the vault. Default: chosen by host." },
  ...gateFlags,
};

export const review: readonly CommandSpec[] = [
  reviewCommand("diff", "Show what a box has changed, dangers first.", () => import("../commands/diff.ts"), {
    usage: "diff BOX [PATH] [flags]",
    examples: ["agentbox diff shop", "agentbox diff shop --stat", "agentbox diff shop --from 2 --tool delta"],
    flags: {
      stat: { type: "switch", summary: "No patch: paths, comments, checks, summary." },
      from: { type: "text", value: "CHECKPOINT", summary: "Compare with this one. Default: base." },
      to: { type: "text", value: "CHECKPOINT", summary: "Up to this one. Default: now." },
      against: { type: "text", value: "BOX", summary: "Compare with the work of another box." },
      tool: { type: "text", value: "COMMAND", summary: "Give the patch to a program of yours." },
    },
    takes: [1, 2],
  }),
  reviewCommand(
    "comment",
    "Write to the agent about a line; all go at once.",
    () => import("../commands/comment.ts"),
    {
      usage: "comment BOX [FILE:LINE[-LAST] TEXT…] [flags]",
      examples: [
        'agentbox comment shop src/a.ts:12 "use the cache"',
        'agentbox comment shop src/a.ts:12-14 --suggest "return cached;"',
        "agentbox comment shop --apply 1          put the suggestion into the work yourself",
        "agentbox comment shop --send",
      ],
      flags: {
        send: { type: "switch", summary: "Send all comments as one message." },
        list: { type: "switch", summary: "List all comments, which is the default." },
        suggest: { type: "text", value: "TEXT", summary: "Suggest this text for the lines." },
        edit: { type: "text", value: "N", summary: "Change comment N before it is sent." },
        delete: { type: "text", value: "N", summary: "Delete comment N before it is sent." },
        apply: { type: "text", value: "N", summary: "Put the suggestion of comment N into the work." },
        resolve: { type: "text", value: "N", summary: "Mark comment N as resolved." },
        detach: { type: "switch", short: "d", summary: "With --send: do not watch what it does." },
        quiet: { type: "switch", short: "q", summary: "No notes on stderr." },
      },
      takes: [1, Infinity],
      passesExitCode: true,
    },
  ),
  reviewCommand(
    "rebase",
    "Let the agent rebase its work onto your branch, after a conflict.",
    () => import("../commands/rebase.ts"),
    {
      usage: "rebase BOX [flags]",
      examples: ["agentbox rebase shop"],
      flags: {
        detach: { type: "switch", short: "d", summary: "Do not watch what it does." },
        quiet: { type: "switch", short: "q", summary: "No notes on stderr." },
      },
      passesExitCode: true,
    },
  ),
  reviewCommand(
    "ignore",
    "Leave a directory that a tool has filled out of the work.",
    () => import("../commands/ignore.ts"),
    {
      usage: "ignore BOX DIRECTORY",
      examples: ["agentbox ignore shop .venv"],
      takes: [2, 2],
    },
  ),
  reviewCommand(
    "check",
    "Run the manifest's checks on the work, in a fresh box.",
    () => import("../commands/check.ts"),
    {},
  ),
  reviewCommand("merge", "Merge the work into your repository, all or nothing.", merge, {
    usage: "merge BOX [flags]",
    examples: ["agentbox merge shop", "agentbox merge shop --mode commits --accept-danger ci"],
    flags: {
      mode: {
        type: "text",
        value: "MODE",
        choices: ["squash", "commits", "patch"],
        summary: "One commit, the agent's own, or only files.",
      },
      message: { type: "text", short: "m", value: "TEXT", summary: "The commit's message." },
      ...gateFlags,
    },
  }),
  reviewCommand("pr", "Push the work to a branch of its own and open a pull request.", pr, {
    usage: "pr BOX [flags]",
    examples: ["agentbox pr shop", 'agentbox pr shop --title "Cache prices" --draft'],
    flags: {
      body: { type: "text", value: "TEXT", summary: "Text of the pull request." },
      "body-file": { type: "text", value: "FILE", summary: "The same, from a file." },
      draft: { type: "switch", summary: "Open it as a draft." },
      "push-only": { type: "switch", summary: "No pull request." },
      ...pushFlags,
    },
  }),
  reviewCommand("push", "Push the work to a branch of its own, without a pull request.", pr, {
    usage: "push BOX [flags]",
    examples: ["agentbox push shop", "agentbox push shop --branch agentbox/prices"],
    flags: pushFlags,
  }),
  reviewCommand("undo", "Undo the latest merge, exactly.", merge, {
    usage: "undo [BOX]",
    examples: ["agentbox undo"],
    takes: [0, 1],
  }),
  reviewCommand("discard", "Remove a box whose work you do not want.", merge, {
    usage: "discard BOX [--force]",
    flags: {
      force: { type: "switch", short: "f", summary: "Do not ask." },
      yes: { type: "switch", short: "y", summary: "The same." },
    },
  }),
  reviewCommand("export", "Write the work to a file: a patch or a bundle.", merge, {
    usage: "export BOX --patch FILE | --bundle FILE",
    examples: ["agentbox export shop --patch work.patch"],
    flags: {
      patch: { type: "text", value: "FILE", summary: "A patch for git apply." },
      bundle: { type: "text", value: "FILE", summary: "A bundle for git fetch." },
    },
  }),
  reviewCommand(
    "checkpoints",
    "List states of a workspace; keep, restore or fork one.",
    () => import("../commands/checkpoints.ts"),
    {
      usage: "checkpoints BOX [CHECKPOINT] [flags]",
      examples: [
        "agentbox checkpoints shop",
        "agentbox checkpoints shop --as before-refactoring",
        "agentbox checkpoints shop --restore 3",
      ],
      flags: {
        take: { type: "switch", summary: "Keep the workspace as it is now." },
        as: { type: "text", value: "NAME", summary: "The same, under a name." },
        restore: { type: "text", value: "CHECKPOINT", summary: "Bring the workspace back to this one." },
        fork: { type: "text", value: "NAME", summary: "Make a new box from one, or from now." },
      },
      takes: [1, 2],
      completesNext: "checkpoint",
    },
  ),
  {
    ...reviewCommand(
      "race",
      "Give one task to several agents, and compare.",
      () => import("../commands/race.ts"),
      {
        usage: "race TASK --agents A,B [flags] | race --pick BOX",
        examples: [
          'agentbox race "fix the tests" --agents claude,codex --n 2',
          "agentbox race --pick race-1-codex",
        ],
        flags: {
          agents: { type: "text", value: "A,B", summary: "Agents, separated by commas." },
          n: { type: "text", value: "N", summary: "How many of each; default: 1." },
          check: { type: "switch", summary: "Run the manifest's checks on each result." },
          pick: { type: "text", value: "BOX", summary: "Keep this one and discard the others." },
          force: { type: "switch", short: "f", summary: "With --pick: do not ask about unmerged work." },
          task: { type: "text", short: "p", value: "TEXT", summary: "The task, as an option." },
          ...boxFlags,
          name: { ...boxFlags["name"]!, summary: "Begin the boxes' names with this; default: race." },
        },
        takes: [0, Infinity],
      },
    ),
    completes: [],
  },
];
