import { z } from "zod";
import type { AgentEntry, Autonomy, Launch, LaunchRequest, SeedFile } from "../../contract/agent.ts";
import { readCopilotOutput } from "./events.ts";
import { appendHook } from "../launch/hook-command.ts";
import { readHookEvents } from "../events/hook-events.ts";
import { mcpServersJson } from "../launch/mcp-servers-json.ts";

const options = z.strictObject({
  reasoning_effort: z
    .enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
    .optional()
    .describe("How hard the model thinks before it acts."),
  wire_api: z
    .enum(["completions", "responses"])
    .optional()
    .describe(
      "API to speak to the model; by default Responses for OpenAI's own models, else Chat Completions.",
    ),
  websocket: z
    .boolean()
    .default(false)
    .describe("With Responses: speak over one WebSocket instead of one request per answer."),
});

const autonomyFlags: Record<Autonomy, readonly string[]> = {
  ask: [],
  edit: ["--allow-tool=write"],
  full: ["--allow-all"],
};

/** In this spelling the payload names its event. */
const hookEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "Notification",
  "PostToolUse",
  "PostToolUseFailure",
  "Stop",
  "ErrorOccurred",
] as const;

function launch(request: LaunchRequest): Launch {
  const { mode, program, task, model, args } = request;
  const { reasoning_effort } = options.parse(request.options);
  const isHeadless = mode === "headless";
  // SECURITY: joined with `=`, so that a task that begins with a dash is a text and no flag.
  const prompt = task === undefined ? [] : [`${isHeadless ? "--prompt" : "--interactive"}=${task}`];
  return {
    argv: [
      program,
      ...(isHeadless ? ["--output-format=json", "--no-ask-user"] : []),
      ...conversationFlags(request),
      ...autonomyFlags[request.autonomy],
      ...(model ? [`--model=${model}`] : []),
      ...(reasoning_effort ? [`--reasoning-effort=${reasoning_effort}`] : []),
      "--no-auto-update",
      ...args,
      ...prompt,
    ],
    env: environment(request),
    files: seedFiles(request),
    ...(request.skillsDir && { links: { ".copilot/skills": request.skillsDir } }),
  };
}

function conversationFlags({ resume, newConversation }: LaunchRequest): string[] {
  if (!resume) return [`--session-id=${newConversation}`];
  return resume.conversation ? [`--resume=${resume.conversation}`] : ["--continue"];
}

function environment({ endpoint, model, options: chosen }: LaunchRequest): Record<string, string> {
  const { wire_api = wireApiOf(model), websocket } = options.parse(chosen);
  return {
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_BASE_URL: `${endpoint.baseUrl}/v1`,
    COPILOT_PROVIDER_API_KEY: endpoint.token,
    COPILOT_PROVIDER_WIRE_API: wire_api,
    ...(wire_api === "responses" && websocket && { COPILOT_PROVIDER_TRANSPORT: "websockets" }),
    ...(model && { COPILOT_MODEL: model }),
  };
}

/** OpenAI's newer models think only in Responses; what else speaks OpenAI's language surely has Chat Completions. */
const wireApiOf = (model = "") => (/^(gpt-[5-9]|o\d)/.test(model) ? "responses" : "completions");

function seedFiles({ mode, mcp, instructions, workspace }: LaunchRequest): SeedFile[] {
  const settings = { banner: "never", autoUpdate: false, showTipsOnStartup: false };
  const hooks = Object.fromEntries(hookEvents.map((name) => [name, [{ type: "command", bash: appendHook }]]));
  return [
    { path: ".copilot/settings.json", text: toJson(settings), how: "merge" },
    // It keeps what it finds here and adds to it, in a form that is no longer JSON.
    { path: ".copilot/config.json", text: toJson({ trustedFolders: [workspace] }), how: "absent" },
    // Headless, its output says the same as its hooks.
    {
      path: ".copilot/hooks/agentbox.json",
      text: toJson({ version: 1, hooks: mode === "interactive" ? hooks : {} }),
      how: "replace",
    },
    { path: ".copilot/mcp-config.json", text: mcpServersJson(mcp), how: "replace" },
    ...(instructions === undefined
      ? []
      : [{ path: ".copilot/copilot-instructions.md", text: instructions, how: "replace" } as const]),
  ];
}

const toJson = (value: unknown) => JSON.stringify(value, undefined, 2);

export const copilot: AgentEntry = {
  name: "copilot",
  title: "GitHub Copilot CLI",
  description: "GitHub's coding agent, with a model of yours.",
  kind: "agent",
  install: { kind: "npm", package: "@github/copilot", version: "1.0.102", bin: "copilot" },
  options,
  api: "openai-responses",
  defaultModel: "gpt-5.5",
  isHeadless: true,
  takesConversationId: true,
  launch,
  readOutput: readCopilotOutput,
  readHooks: readHookEvents,
  keys: { submit: "\r", interrupt: "\u0003" },
  statePaths: [".copilot"],
  loginPaths: [".copilot/config.json"],
  hosts: [],
  traps: [
    "Its first start in a home unpacks 235 MB into ~/.cache/copilot, which takes a few seconds; later starts do not.",
    "It needs a model by name and never asks GitHub for one: sign-in, web tools and GitHub's MCP server are off.",
    "Without a terminal there is no one to ask: with the levels ask and edit, what needs an approval is refused.",
    "With the level edit a command that only redirects its output into a file counts as an edit.",
    "In the terminal it says that a conversation has started only with the first prompt, and not that a turn was interrupted or failed.",
    "A resume without an id begins a new conversation when there is none.",
    "A second ctrl-c while it is idle ends it.",
  ],
};
