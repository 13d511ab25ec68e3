import { z } from "zod";
import { AgentBoxError } from "../base/errors.ts";
import type { AgentEntry, Autonomy, Launch, LaunchRequest, SeedFile } from "../contract/agent.ts";
import { terminalKeys } from "./launch/terminal-keys.ts";

const options = z.strictObject({
  commits: z
    .boolean()
    .default(false)
    .describe("Commit after each change, and first what was not committed yet, as aider does outside a box."),
  weak_model: z
    .string()
    .min(1)
    .optional()
    .describe("Model for summaries and commit messages. Default: the main model."),
  edit_format: z
    .enum(["whole", "diff", "diff-fenced", "udiff"])
    .optional()
    .describe("How the model writes its changes; aider knows what suits the models it knows."),
  test_command: z
    .string()
    .min(1)
    .optional()
    .describe("Command that tests the work; aider runs it after each change and repairs what fails."),
});

const instructionsFile = ".aider/instructions.md";

/** Everything it would look up or ask before the first prompt. */
const quietFlags = [
  "--no-check-update",
  "--no-show-release-notes",
  "--analytics-disable",
  "--no-show-model-warnings",
  "--no-gitignore",
  "--no-browser",
  "--no-detect-urls",
  "--disable-playwright",
] as const;

/**
 * `--message` ends the program after one turn. With a terminal the same conversation goes on in a second one.
 * SECURITY: the script is fixed; the program, the task and all flags are its parameters and never parsed by the shell.
 */
const messageThenChat = [
  "/bin/sh",
  "-c",
  'program=$1 message=$2; shift 2; "$program" "$@" "$message"; exec "$program" "$@" --restore-chat-history',
  "aider",
] as const;

function launch(request: LaunchRequest): Launch {
  const { mode, program, task } = request;
  // SECURITY: in one argument with its flag, a task that begins with a dash is a text and no flag.
  const message = `--message=${task ?? ""}`;
  const argv: Launch["argv"] =
    mode === "headless"
      ? [program, ...flags(request), message]
      : task === undefined
        ? [program, ...flags(request)]
        : [...messageThenChat, program, message, ...flags(request)];
  return {
    argv,
    env: {
      OPENAI_API_BASE: `${request.endpoint.baseUrl}/v1`,
      OPENAI_API_KEY: request.endpoint.token,
      // The library below aider downloads a price list when it is loaded, unless it is told to use its own.
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      // It opens help pages in a browser; a box has none.
      BROWSER: "true",
    },
    files: seedFiles(request),
  };
}

const flags = (request: LaunchRequest): string[] => [
  ...modelFlags(request),
  ...quietFlags,
  `--input-history-file=${request.home}/.aider/input.history`,
  ...conversationFlags(request),
  ...(request.mode === "headless" ? ["--no-pretty", "--no-fancy-input"] : []),
  ...autonomyFlags[request.mode][request.autonomy],
  ...optionFlags(request),
  ...(request.instructions === undefined ? [] : [`--read=${request.home}/${instructionsFile}`]),
  ...request.args,
];

/** Flags win over the `.env` of a repository, which aider would otherwise put above the environment of the box. */
function modelFlags({ model = defaultModel, endpoint, options: chosen }: LaunchRequest): string[] {
  const { weak_model = model } = options.parse(chosen);
  return [
    `--model=openai/${model}`,
    `--weak-model=openai/${weak_model}`,
    `--openai-api-base=${endpoint.baseUrl}/v1`,
    `--openai-api-key=${endpoint.token}`,
  ];
}

/** Aider has no ids of conversations: the file of its history is the conversation. */
function conversationFlags({ resume, newConversation, home }: LaunchRequest): string[] {
  const id = resume ? resume.conversation : newConversation;
  if (id === undefined) {
    throw new AgentBoxError("agent.no_conversation", "Aider cannot tell which conversation was the latest.", {
      hint: "Start a new one, with a task that says what to go on with.",
    });
  }
  // SECURITY: the id comes from the store, but it becomes part of a path, so nothing in it may leave the directory.
  const name = id.replaceAll(/[^A-Za-z0-9-]/g, "_");
  return [
    `--chat-history-file=${home}/.aider/conversations/${name}.md`,
    ...(resume ? ["--restore-chat-history"] : []),
  ];
}

/**
 * `--yes-always` says yes to every question but "Run shell command?", which it answers with no. Without it, and
 * with stdin closed, each question gets its default, and that is yes for commands too.
 */
const autonomyFlags: Record<LaunchRequest["mode"], Record<Autonomy, readonly string[]>> = {
  headless: { ask: ["--chat-mode=ask"], edit: ["--yes-always"], full: [] },
  interactive: { ask: [], edit: ["--yes-always"], full: ["--yes-always"] },
};

function optionFlags({ options: chosen }: LaunchRequest): string[] {
  const { commits, edit_format, test_command } = options.parse(chosen);
  return [
    // Work in a box is reviewed as a whole; commits would take the person's own uncommitted changes along.
    ...(commits ? ["--auto-commits"] : ["--no-auto-commits", "--no-dirty-commits"]),
    ...(edit_format === undefined ? [] : [`--edit-format=${edit_format}`]),
    ...(test_command === undefined ? [] : [`--test-cmd=${test_command}`, "--auto-test"]),
  ];
}

function seedFiles({ instructions }: LaunchRequest): SeedFile[] {
  return [
    // With anything in this file, and a time on it that is not older than a day, it downloads no other.
    { path: ".aider/caches/model_prices_and_context_window.json", text: '{"agentbox":{}}', how: "replace" },
    // Its map of the repository is in the workspace and cannot be moved: at least git does not see it.
    { path: ".config/git/ignore", text: ".aider*\n", how: "absent" },
    ...(instructions === undefined
      ? []
      : [{ path: instructionsFile, text: instructions, how: "replace" } as const]),
  ];
}

const defaultModel = "gpt-5";

export const aider: AgentEntry = {
  name: "aider",
  title: "Aider",
  description: "Pair programmer that edits the files of a git repository.",
  kind: "agent",
  install: { kind: "pypi", package: "aider-chat", version: "0.86.2", bin: "aider" },
  options,
  api: "openai-chat",
  defaultModel,
  isHeadless: true,
  takesConversationId: true,
  launch,
  // No structured output and no hooks: what is known of its work comes from the model gateway.
  keys: terminalKeys,
  statePaths: [".aider"],
  loginPaths: [".aider/oauth-keys.env"],
  hosts: [],
  traps: [
    "It ends with exit code 0 even when the model could not be reached; AgentBox judges by the gateway.",
    "It leaves its work uncommitted unless the option commits is on.",
    "It writes a directory .aider.tags.cache.v4 into the workspace, which git in the box ignores.",
    "In a workspace without a git repository it makes one when it may edit.",
    "With a terminal and autonomy edit or full it runs no command the model proposes; type /run for that.",
    "Without a terminal and with autonomy ask it only answers and changes nothing.",
    "It has no MCP servers and no skills.",
    "It loads .aider.conf.yml and .env of the workspace, so a repository may change settings that no flag sets.",
  ],
};
