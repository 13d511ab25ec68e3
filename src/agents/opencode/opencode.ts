import { z } from "zod";
import type { AgentEntry, Autonomy, Launch, LaunchRequest } from "../../contract/agent.ts";
import type { McpServer } from "../../contract/mcp.ts";
import { readOpencodeHooks, readOpencodeOutput } from "./events.ts";
import { opencodePlugin } from "./plugin.ts";

const options = z.strictObject({
  agent: z.string().min(1).optional().describe("The agent of OpenCode's own to use, such as build or plan."),
  variant: z.string().min(1).optional().describe("How hard the model thinks, such as low, high or max."),
});

/** Later rules win, and what is not named is allowed. */
const permissions: Record<Autonomy, Record<string, string>> = {
  ask: { "*": "allow", edit: "ask", bash: "ask", webfetch: "ask", external_directory: "ask" },
  edit: { "*": "allow", bash: "ask", webfetch: "ask", external_directory: "ask" },
  full: { "*": "allow" },
};

const provider = "agentbox";
const pluginPath = ".agentbox/opencode-plugin.js";

function config(request: LaunchRequest): Record<string, unknown> {
  const { model, endpoint, mode, home } = request;
  return {
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    permission: permissions[request.autonomy],
    enabled_providers: [provider],
    provider: {
      [provider]: {
        npm: "@ai-sdk/openai-compatible",
        name: "AgentBox",
        options: { baseURL: `${endpoint.baseUrl}/v1`, apiKey: endpoint.token },
        models: model === undefined ? {} : { [model]: { name: model } },
      },
    },
    mcp: Object.fromEntries(request.mcp.map((server) => [server.name, mcpConfig(server)])),
    ...(mode === "interactive" && { plugin: [`file://${home}/${pluginPath}`] }),
  };
}

function mcpConfig(server: McpServer): Record<string, unknown> {
  return server.transport === "stdio"
    ? { type: "local", command: [server.command, ...server.args], environment: server.env, enabled: true }
    : { type: "remote", url: server.url, headers: server.headers, enabled: true, oauth: false };
}

function launch(request: LaunchRequest): Launch {
  const { task, resume, model, instructions, skillsDir, mode } = request;
  const chosen = options.parse(request.options);
  const firstPrompt = resume && task ? { conversation: resume.conversation, text: task } : undefined;
  // SECURITY: `--name=value` and `--`, so that a task or an id that begins with a dash is no flag.
  return {
    argv: [
      request.program,
      ...(mode === "headless" ? ["run", "--format=json", "--thinking"] : []),
      ...(model === undefined ? [] : [`--model=${provider}/${model}`]),
      ...(chosen.agent === undefined ? [] : [`--agent=${chosen.agent}`]),
      ...(chosen.variant === undefined || mode === "interactive" ? [] : [`--variant=${chosen.variant}`]),
      ...(resume === undefined
        ? []
        : [resume.conversation === undefined ? "--continue" : `--session=${resume.conversation}`]),
      ...request.args,
      ...(mode === "headless" ? ["--", task ?? ""] : task ? [`--prompt=${task}`] : []),
    ],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config(request)),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_SHARE: "1",
      // Otherwise it looks its plugin library up at every start.
      npm_config_offline: "true",
    },
    files: [
      ...(instructions === undefined
        ? []
        : [{ path: ".config/opencode/AGENTS.md", text: instructions, how: "replace" } as const]),
      ...(mode === "interactive"
        ? [{ path: pluginPath, text: opencodePlugin(firstPrompt), how: "replace" } as const]
        : []),
    ],
    ...(skillsDir !== undefined && { links: { ".config/opencode/skills": skillsDir } }),
  };
}

export const opencode: AgentEntry = {
  name: "opencode",
  title: "OpenCode",
  description: "OpenCode, with any model that speaks Chat Completions.",
  kind: "agent",
  install: { kind: "npm", package: "opencode-ai", version: "1.18.33", bin: "opencode" },
  options,
  api: "openai-chat",
  defaultModel: "gpt-5.5",
  isHeadless: true,
  takesConversationId: false,
  launch,
  readOutput: readOpencodeOutput,
  readHooks: readOpencodeHooks,
  keys: { submit: "\r", interrupt: "\u001B[27u\u001B[27u" },
  statePaths: [".local/share/opencode", ".local/state/opencode", ".config/opencode"],
  loginPaths: [".local/share/opencode/auth.json"],
  hosts: [],
  traps: [
    "The program that npm links is a placeholder until an install script has run; AgentBox starts the one for the processor itself.",
    "Without a terminal, a call that needs approval is refused, the run stops there and the exit code is 0.",
    "Resuming the latest conversation in a home that has none begins a new one; an id that does not exist is an error (exit code 1).",
    "It gives GPT models a tool that applies patches in place of one that writes files.",
    "The first prompt of a conversation costs one request more, for its title.",
    "Keys typed before its screen is drawn are lost.",
    "Escape must be pressed twice to interrupt it.",
  ],
};
