import { z } from "zod";
import type { AgentEntry, Launch, LaunchRequest } from "../../contract/agent.ts";
import { readGeminiHooks, readGeminiOutput } from "./events.ts";
import { hooksThatLog, mcpSettings } from "./settings.ts";

const approvalModes = { ask: "default", edit: "auto_edit", full: "yolo" } as const;
const hookEvents = [
  "SessionStart",
  "BeforeAgent",
  "BeforeTool",
  "AfterTool",
  "Notification",
  "AfterAgent",
] as const;

function settings(request: LaunchRequest): Record<string, unknown> {
  return {
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      // A conversation that was cleaned away could not be resumed.
      sessionRetention: { enabled: false },
    },
    ui: { hideTips: true, showHomeDirectoryWarning: false },
    ide: { enabled: false, hasSeenNudge: true },
    context: { fileName: ["GEMINI.md", "AGENTS.md"] },
    mcpServers: mcpSettings(request.mcp, request.autonomy === "full"),
    // Headless output has the same events, and more.
    ...(request.mode === "interactive" && {
      hooks: hooksThatLog(hookEvents),
      hooksConfig: { enabled: true, notifications: false },
    }),
  };
}

function launch(request: LaunchRequest): Launch {
  const { task, resume, endpoint, instructions, skillsDir } = request;
  // SECURITY: `--name=value`, so that a task or an id that begins with a dash is no flag.
  const prompt = request.mode === "headless" ? [`--prompt=${task ?? ""}`, "--output-format=stream-json"] : [];
  const firstPrompt = request.mode === "interactive" && task ? [`--prompt-interactive=${task}`] : [];
  return {
    argv: [
      request.program,
      `--approval-mode=${approvalModes[request.autonomy]}`,
      ...(request.model === undefined ? [] : [`--model=${request.model}`]),
      resume ? `--resume=${resume.conversation ?? "latest"}` : `--session-id=${request.newConversation}`,
      ...prompt,
      ...firstPrompt,
      ...request.args,
    ],
    env: {
      GOOGLE_GEMINI_BASE_URL: endpoint.baseUrl,
      GEMINI_API_KEY: endpoint.token,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      // It would start itself again with more heap, which costs 2 s.
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
    files: [
      { path: ".gemini/settings.json", text: JSON.stringify(settings(request), null, 2), how: "replace" },
      ...(instructions === undefined
        ? []
        : [{ path: ".gemini/GEMINI.md", text: instructions, how: "replace" } as const]),
    ],
    ...(skillsDir !== undefined && { links: { ".gemini/skills": skillsDir } }),
  };
}

export const gemini: AgentEntry = {
  name: "gemini",
  title: "Gemini CLI",
  description: "Google's Gemini CLI.",
  kind: "agent",
  install: { kind: "npm", package: "@google/gemini-cli", version: "0.61.0", bin: "gemini" },
  options: z.strictObject({}),
  api: "gemini",
  isHeadless: true,
  takesConversationId: true,
  launch,
  readOutput: readGeminiOutput,
  readHooks: readGeminiHooks,
  keys: { submit: "\r", interrupt: "\u001B" },
  statePaths: [".gemini"],
  loginPaths: [".gemini/oauth_creds.json", ".gemini/google_accounts.json"],
  hosts: [],
  traps: [
    "Without a model it asks a small one which of two to use, one request more for each prompt; naming a model stops that.",
    "It ends at once when the model refuses (401), but tries again for minutes when the model fails (500) or cannot be reached.",
    "Without a terminal, tools that would need approval are not even offered to the model at the levels ask and edit.",
    "Resuming the latest conversation in a home that has none begins a new one; an id that does not exist is an error (exit code 42).",
    "Its settings file is rewritten at each start: what is changed in its settings dialog lasts until the box restarts.",
    "Its output says nothing about thoughts; they are only counted.",
  ],
};
