import { stringify } from "smol-toml";
import { z } from "zod";
import type { AgentEntry, Launch, LaunchRequest, SeedFile } from "../../contract/agent.ts";
import { boxEnv } from "../../contract/network/box-env.ts";
import { readCodexOutput } from "./events.ts";
import { codexKeyVariable, codexSettings } from "./settings.ts";
import { readHookEvents } from "../events/hook-events.ts";

const options = z.strictObject({
  reasoning_effort: z
    .enum(["none", "minimal", "low", "medium", "high", "xhigh"])
    .optional()
    .describe("How hard the model thinks before it acts."),
  web_search: z
    .boolean()
    .default(false)
    .describe(
      "Let the model's own service search what it has of the web; it opens no page, and nothing of it passes through the box's gate.",
    ),
  websocket: z
    .boolean()
    .default(false)
    .describe("Speak to the model over one WebSocket instead of one request per answer."),
});

function launch(request: LaunchRequest): Launch {
  const { program, mode, task, args, resume, autonomy } = request;
  const isHeadless = mode === "headless";
  // SECURITY: after `--` a task that begins with a dash is a text and no flag.
  const words = [resume?.conversation, task].filter((word) => word !== undefined);
  return {
    argv: [
      program,
      ...(isHeadless ? ["exec"] : []),
      ...(resume ? ["resume"] : []),
      ...(resume && !resume.conversation ? ["--last"] : []),
      ...(isHeadless ? ["--json", "--skip-git-repo-check"] : ["--no-daemon"]),
      // By default it runs only hooks that a person has looked at; this says that they are vetted, because they are
      // ours.
      ...(isHeadless && autonomy === "full" ? [] : ["--dangerously-bypass-hook-trust"]),
      ...args,
      ...(words.length === 0 ? [] : ["--", ...words]),
    ],
    env: codexEnv(request),
    files: seedFiles(request),
    ...(request.skillsDir && { links: { ".agents/skills": request.skillsDir } }),
  };
}

/**
 * Its terminal fetches an announcement from GitHub at every start, and no setting stops that. The model is reached
 * over http, so the proxy for https leads nowhere; servers that are reached over https are left out of it.
 */
function codexEnv({ mode, endpoint, mcp }: LaunchRequest): Record<string, string> {
  const key = { [codexKeyVariable]: endpoint.token };
  if (mode === "headless") return key;
  const nowhere = "http://127.0.0.1:9";
  const hosts = mcp.flatMap((server) => (server.transport === "stdio" ? [] : hostOf(server.url)));
  const direct = [boxEnv["NO_PROXY"], ...hosts].join(",");
  return {
    ...key,
    HTTPS_PROXY: nowhere,
    https_proxy: nowhere,
    ALL_PROXY: nowhere,
    all_proxy: nowhere,
    NO_PROXY: direct,
    no_proxy: direct,
  };
}

const hostOf = (url: string): string[] => (URL.canParse(url) ? [new URL(url).hostname] : []);

function seedFiles(request: LaunchRequest): SeedFile[] {
  const { instructions } = request;
  const settings = codexSettings(request, options.parse(request.options));
  return [
    { path: ".codex/config.toml", text: stringify(settings), how: "replace" },
    ...(instructions === undefined
      ? []
      : [{ path: ".codex/AGENTS.md", text: instructions, how: "replace" } as const]),
  ];
}

export const codex: AgentEntry = {
  name: "codex",
  title: "Codex",
  description: "OpenAI's coding agent.",
  kind: "agent",
  install: { kind: "npm", package: "@openai/codex", version: "0.166.0", bin: "codex" },
  options,
  api: "openai-responses",
  defaultModel: "gpt-5.5",
  isHeadless: true,
  takesConversationId: false,
  launch,
  readOutput: readCodexOutput,
  readHooks: readHookEvents,
  keys: { submit: "\r", interrupt: "\u001b" },
  statePaths: [".codex"],
  loginPaths: [".codex/auth.json"],
  hosts: [],
  traps: [
    "Which tools it has depends on the name of the model: a name it does not know gets no apply_patch, gpt-6 gets one JavaScript tool.",
    "A model that cannot be reached at all is tried for ever; one that answers with an error is given up after five tries.",
    "With the levels ask and edit its terminal asks once at every start whether to open the folder restricted; with a task, what needs an approval is refused.",
    "In the terminal it says nothing when a turn ends because the model refused, and takes a command that failed for one that went well.",
    "It knows no MCP over SSE: such a server is asked as if it spoke streamable HTTP.",
    "Its settings in ~/.codex/config.toml are rewritten at every start.",
    "A resume without an id begins a new conversation when there is none.",
  ],
};
