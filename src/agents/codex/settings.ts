import type { Autonomy, LaunchRequest } from "../../contract/agent.ts";
import type { McpServer } from "../../contract/mcp.ts";
import { boxEnv } from "../../contract/network/box-env.ts";
import { appendHook } from "../launch/hook-command.ts";

export const codexKeyVariable = "AGENTBOX_MODEL_KEY";

export interface CodexOptions {
  readonly reasoning_effort?: string | undefined;
  readonly web_search: boolean;
  readonly websocket: boolean;
}

/** `config.toml` as an object. */
export function codexSettings(request: LaunchRequest, options: CodexOptions): Record<string, unknown> {
  const { model, endpoint, autonomy, workspace, mcp } = request;
  const { reasoning_effort, web_search, websocket } = options;
  return {
    ...(model && { model }),
    ...(reasoning_effort && { model_reasoning_effort: reasoning_effort }),
    model_provider: "agentbox",
    // Its own sandbox needs namespaces, which a box does not give: the box is the sandbox.
    sandbox_mode: "danger-full-access",
    ...(autonomy === "full" && { approval_policy: "never" }),
    // Not "live": the model's service would open pages past the box's policy, which the gateway refuses.
    web_search: web_search ? "cached" : "disabled",
    check_for_update_on_startup: false,
    // Otherwise an enter that follows a text at once, as `send` types it, is taken for a part of a paste.
    disable_paste_burst: true,
    model_providers: {
      agentbox: {
        name: "AgentBox",
        base_url: `${endpoint.baseUrl}/v1`,
        env_key: codexKeyVariable,
        wire_api: "responses",
        supports_websockets: websocket,
      },
    },
    // Plugins and apps look things up at start; the daemon outlives the terminal and copies the program into the home.
    features: { plugins: false, apps: false, daemon_auto_start: false },
    analytics: { enabled: false },
    feedback: { enabled: false },
    tui: { show_tooltips: false },
    notice: notices(model),
    // Without its sandbox it asks only in an untrusted project, and then about every command and every edit.
    projects: { [workspace]: { trust_level: autonomy === "full" ? "trusted" : "untrusted" } },
    // The process itself has another way out in interactive mode (see codexEnv); commands have the box's.
    shell_environment_policy: { set: boxEnv },
    mcp_servers: Object.fromEntries(mcp.map(mcpEntry)),
    hooks: hookSettings(request),
  };
}

/** Each time it starts it would ask whether to change to a newer model, or warn; this is the answer. */
const notices = (model: string | undefined) => ({
  hide_full_access_warning: true,
  hide_rate_limit_model_nudge: true,
  ...(model && { model_migrations: { [model]: "gpt-6-sol" } }),
});

function mcpEntry(server: McpServer): [string, Record<string, unknown>] {
  if (server.transport !== "stdio") {
    return [server.name, { url: server.url, http_headers: server.headers }];
  }
  const { name, command, args, env } = server;
  // Servers get a short list of variables only; without these they find neither the way out nor its certificate.
  return [name, { command, args, env: { ...boxEnv, ...env } }];
}

const loggedEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "Stop",
  "Interrupt",
] as const;

const commandTools = ["Bash", "mcp__.*"] as const;
const editTools = ["apply_patch"] as const;

/**
 * Headless, its output says the same as the hooks would, and there is no person to ask: a request for approval is
 * refused.
 */
function hookSettings({ mode, autonomy }: LaunchRequest): Record<string, unknown> {
  if (mode === "headless") {
    const refused = refusedTools[autonomy];
    return refused.length === 0 ? {} : { PreToolUse: [hook(refuse, refused)] };
  }
  const logging = Object.fromEntries(loggedEvents.map((name) => [name, [hook(appendHook)]]));
  if (autonomy !== "edit") return logging;
  return { ...logging, PermissionRequest: [hook(appendHook, commandTools), hook(allow, editTools)] };
}

const refusedTools: Record<Autonomy, readonly string[]> = {
  ask: [...commandTools, ...editTools],
  edit: commandTools,
  full: [],
};

const hook = (command: string, tools?: readonly string[]) => ({
  ...(tools && { matcher: `^(${tools.join("|")})$` }),
  hooks: [{ type: "command", command }],
});

const answer = (value: object) => `echo '${JSON.stringify({ hookSpecificOutput: value })}'`;

const allow = answer({ hookEventName: "PermissionRequest", decision: { behavior: "allow" } });
const refuse = answer({
  hookEventName: "PreToolUse",
  permissionDecision: "deny",
  permissionDecisionReason: "It needs an approval, and no person is there to give it.",
});
