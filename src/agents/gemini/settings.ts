/** The parts of settings.json that Gemini CLI and its fork Qwen Code have in common. */
import type { McpServer } from "../../contract/mcp.ts";
import { appendHook } from "../launch/hook-command.ts";

export const hooksThatLog = (events: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    events.map((event) => [
      event,
      [{ hooks: [{ type: "command", name: `agentbox-${event}`, command: appendHook }] }],
    ]),
  );

/** `trust`, because what a server may do is decided by the box's policy. */
export function mcpSettings(servers: readonly McpServer[], trust: boolean): Record<string, unknown> {
  return Object.fromEntries(servers.map((server) => [server.name, { ...mcpServer(server), trust }]));
}

function mcpServer(server: McpServer): Record<string, unknown> {
  if (server.transport === "stdio") {
    const { command, args, env } = server;
    return { command, args, env };
  }
  const { transport, url, headers } = server;
  return transport === "http" ? { httpUrl: url, headers } : { url, headers };
}
