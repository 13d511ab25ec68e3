import { z } from "zod";
import type { AgentEntry, Autonomy, Launch, LaunchRequest, SeedFile } from "../../contract/agent.ts";
import { readClaudeOutput } from "./events.ts";
import { appendHook } from "../launch/hook-command.ts";
import { readHookEvents } from "../events/hook-events.ts";
import { mcpServersJson } from "../launch/mcp-servers-json.ts";

const options = z.strictObject({
  effort: z
    .enum(["low", "medium", "high", "xhigh", "max"])
    .optional()
    .describe("How hard the model thinks before it acts."),
  max_turns: z
    .int()
    .min(1)
    .optional()
    .describe("Stop after this many rounds with the model (with a task only)."),
  append_system_prompt: z
    .string()
    .min(1)
    .optional()
    .describe("Text added to Claude Code's own system prompt."),
  fallback_model: z
    .string()
    .min(1)
    .optional()
    .describe("Model to use while the first one is overloaded (with a task only)."),
  small_model: z.string().min(1).optional().describe("Model for small chores, such as titles and summaries."),
});

/** Ours is beside Claude's own settings, so that what a person changes in the box stays. */
const settingsFile = ".agentbox/claude-settings.json";
const mcpFile = ".agentbox/claude-mcp.json";

const autonomyFlags: Record<Autonomy, readonly string[]> = {
  ask: ["--permission-mode", "default"],
  edit: ["--permission-mode", "acceptEdits"],
  full: ["--dangerously-skip-permissions"],
};

const hookEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "Stop",
  "StopFailure",
] as const;

function launch(request: LaunchRequest): Launch {
  const { mode, program, task, home } = request;
  const isHeadless = mode === "headless";
  return {
    argv: [
      program,
      ...(isHeadless ? ["--print", "--output-format", "stream-json", "--verbose"] : []),
      ...conversationFlags(request),
      ...autonomyFlags[request.autonomy],
      ...optionFlags(request),
      "--settings",
      `${home}/${settingsFile}`,
      // The list of `inspect` is the list that runs: the box has read .mcp.json, and a changed one asks in a dialog.
      "--strict-mcp-config",
      "--mcp-config",
      `${home}/${mcpFile}`,
      ...request.args,
      // SECURITY: after `--` a task that begins with a dash is a text and no flag.
      ...(task === undefined ? [] : ["--", task]),
    ],
    env: environment(request),
    files: seedFiles(request),
    ...(request.skillsDir && { links: { ".claude/skills": request.skillsDir } }),
  };
}

function conversationFlags({ resume, newConversation }: LaunchRequest): string[] {
  if (!resume) return ["--session-id", newConversation];
  return resume.conversation ? ["--resume", resume.conversation] : ["--continue"];
}

function optionFlags({ mode, model, options: chosen }: LaunchRequest): string[] {
  const { effort, max_turns, append_system_prompt, fallback_model } = options.parse(chosen);
  const isHeadless = mode === "headless";
  return [
    ...(model ? ["--model", model] : []),
    ...(effort ? ["--effort", effort] : []),
    ...(append_system_prompt ? ["--append-system-prompt", append_system_prompt] : []),
    ...(isHeadless && max_turns ? ["--max-turns", String(max_turns)] : []),
    ...(isHeadless && fallback_model ? ["--fallback-model", fallback_model] : []),
  ];
}

function environment({ endpoint, options: chosen }: LaunchRequest): Record<string, string> {
  const { small_model } = options.parse(chosen);
  return {
    ANTHROPIC_BASE_URL: endpoint.baseUrl,
    // Not ANTHROPIC_API_KEY: with that one it asks in a dialog whether the key may be used.
    ANTHROPIC_AUTH_TOKEN: endpoint.token,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: "1",
    CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    ...(small_model && { ANTHROPIC_DEFAULT_HAIKU_MODEL: small_model }),
  };
}

function seedFiles(request: LaunchRequest): SeedFile[] {
  const { mode, mcp, instructions, workspace } = request;
  const onboarding = {
    hasCompletedOnboarding: true,
    bypassPermissionsModeAccepted: true,
    projects: { [workspace]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
  // Headless, its output says the same as its hooks.
  const hooks = mode === "interactive" ? hookSettings() : {};
  // By default it deletes conversations after 30 days; a box may sleep longer.
  const settings = {
    cleanupPeriodDays: 3_650,
    skipDangerousModePermissionPrompt: true,
    // SECURITY: a repository's own settings may name another server; what is given with --settings wins over them.
    env: environment(request),
    hooks,
  };
  return [
    { path: ".claude.json", text: toJson(onboarding), how: "merge" },
    { path: ".claude/settings.json", text: toJson({ theme: "dark" }), how: "absent" },
    { path: settingsFile, text: toJson(settings), how: "replace" },
    { path: mcpFile, text: mcpServersJson(mcp), how: "replace" },
    ...(instructions === undefined
      ? []
      : [{ path: ".claude/CLAUDE.md", text: instructions, how: "replace" } as const]),
  ];
}

const hookSettings = () =>
  Object.fromEntries(
    hookEvents.map((name) => [name, [{ hooks: [{ type: "command", command: appendHook }] }]]),
  );

const toJson = (value: unknown) => JSON.stringify(value, undefined, 2);

export const claude: AgentEntry = {
  name: "claude",
  title: "Claude Code",
  description: "Anthropic's coding agent.",
  kind: "agent",
  install: { kind: "npm", package: "@anthropic-ai/claude-code", version: "2.1.197", bin: "claude" },
  options,
  api: "anthropic",
  isHeadless: true,
  takesConversationId: true,
  launch,
  readOutput: readClaudeOutput,
  readHooks: readHookEvents,
  keys: { submit: "\r", interrupt: "\u001b" },
  statePaths: [".claude.json", ".claude"],
  loginPaths: [".claude/.credentials.json"],
  hosts: [],
  traps: [
    "When the model cannot be reached or refuses the key it tries ten times, about three minutes, before it gives up.",
    "Without a terminal there is no one to ask: with the levels ask and edit, what needs an approval is refused and it ends as if all were well.",
    "Interrupted before it has said a word, it puts the prompt back into its input, and the next text is appended to it.",
    "A resume without an id begins a new conversation when there is none.",
    "It reads MCP servers from AgentBox's list only: one that is added to .mcp.json later needs a new box.",
  ],
};
