import { z } from "zod";
import type { AgentEntry, Launch, LaunchRequest } from "../../contract/agent.ts";
import { hooksThatLog, mcpSettings } from "../gemini/settings.ts";
import { readQwenHooks, readQwenOutput } from "./events.ts";

const options = z.strictObject({
  append_system_prompt: z.string().min(1).optional().describe("Text added to Qwen Code's own system prompt."),
  max_session_turns: z
    .int()
    .min(1)
    .optional()
    .describe("Stop after this many rounds with the model (with a task only)."),
});

const approvalModes = { ask: "default", edit: "auto-edit", full: "yolo" } as const;
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

function settings(request: LaunchRequest): Record<string, unknown> {
  return {
    // Without it, the file is taken for one of an older version, moved away and written anew.
    $version: 4,
    security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false, showSessionRecap: false },
    ui: { theme: "Qwen Dark", hideTips: true, enableWelcomeBack: false, enableUserFeedback: false },
    ide: { enabled: false, hasSeenNudge: true },
    // It would read each conversation again to remember things, at the person's expense.
    memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
    context: { fileName: ["QWEN.md", "AGENTS.md"] },
    mcpServers: mcpSettings(request.mcp, request.autonomy === "full"),
    // Headless output has the same events, and more.
    ...(request.mode === "interactive" && { hooks: hooksThatLog(hookEvents) }),
  };
}

function launch(request: LaunchRequest): Launch {
  const { task, resume, endpoint, instructions, skillsDir, model } = request;
  const chosen = options.parse(request.options);
  // SECURITY: `--name=value`, so that a task or an id that begins with a dash is no flag.
  const conversation =
    resume === undefined
      ? `--session-id=${request.newConversation}`
      : resume.conversation === undefined
        ? "--continue"
        : `--resume=${resume.conversation}`;
  return {
    argv: [
      request.program,
      `--approval-mode=${approvalModes[request.autonomy]}`,
      ...(model === undefined ? [] : [`--model=${model}`]),
      ...(chosen.append_system_prompt === undefined
        ? []
        : [`--append-system-prompt=${chosen.append_system_prompt}`]),
      ...(chosen.max_session_turns === undefined ? [] : [`--max-session-turns=${chosen.max_session_turns}`]),
      conversation,
      ...(request.mode === "headless" ? ["--output-format=stream-json", `--prompt=${task ?? ""}`] : []),
      ...(request.mode === "interactive" && task ? [`--prompt-interactive=${task}`] : []),
      ...request.args,
    ],
    env: {
      OPENAI_BASE_URL: `${endpoint.baseUrl}/v1`,
      OPENAI_API_KEY: endpoint.token,
      ...(model !== undefined && { OPENAI_MODEL: model }),
      // It would start itself again with more heap, which costs time.
      QWEN_CODE_NO_RELAUNCH: "true",
    },
    files: [
      { path: ".qwen/settings.json", text: JSON.stringify(settings(request), null, 2), how: "replace" },
      ...(instructions === undefined
        ? []
        : [{ path: ".qwen/QWEN.md", text: instructions, how: "replace" } as const]),
    ],
    ...(skillsDir !== undefined && { links: { ".qwen/skills": skillsDir } }),
  };
}

export const qwen: AgentEntry = {
  name: "qwen",
  title: "Qwen Code",
  description: "Alibaba's Qwen Code, with any model that speaks Chat Completions.",
  kind: "agent",
  install: { kind: "npm", package: "@qwen-code/qwen-code", version: "0.15.10", bin: "qwen" },
  options,
  api: "openai-chat",
  defaultModel: "gpt-5.5",
  isHeadless: true,
  takesConversationId: true,
  launch,
  readOutput: readQwenOutput,
  readHooks: readQwenHooks,
  keys: { submit: "\r", interrupt: "\u001B" },
  statePaths: [".qwen"],
  loginPaths: [".qwen/oauth_creds.json"],
  hosts: [],
  traps: [
    "It reports success and exit code 0 when the model cannot be reached; AgentBox looks for [API Error in its answer.",
    "It ignores NO_PROXY, so an MCP server on the box's own loopback cannot be reached over HTTP; stdio works.",
    "Without a terminal, tools that would need approval are not even offered to the model at the levels ask and edit.",
    "Resuming the latest conversation in a home that has none begins a new one; an id that does not exist is an error (exit code 1).",
    "An interrupted turn ends without an event of its own.",
    "The usage in its last line adds up all earlier turns of the conversation; AgentBox takes that of each answer.",
    "Its settings file is rewritten at each start: what is changed in its settings dialog lasts until the box restarts.",
  ],
};
