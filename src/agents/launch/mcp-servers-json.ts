import type { McpServer } from "../../contract/mcp.ts";

/** The form of `.mcp.json`, which several agents read as it is. */
export const mcpServersJson = (servers: readonly McpServer[]): string =>
  JSON.stringify({ mcpServers: Object.fromEntries(servers.map(entryOf)) }, undefined, 2);

function entryOf(server: McpServer): [string, unknown] {
  if (server.transport === "stdio") {
    const { name, command, args, env } = server;
    return [name, { command, args, env }];
  }
  const { name, transport, url, headers } = server;
  return [name, { type: transport, url, headers }];
}
