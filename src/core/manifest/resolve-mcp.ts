/** The MCP servers of a box, from all layers and the project's own `.mcp.json`. Pure. */
import { entryDefaults } from "../../manifest/defaults.ts";
import { type ManifestLayer, layerManifest } from "../../manifest/index.ts";
import type { McpEntry } from "../../manifest/sections/mcp-section.ts";
import { readMcpJson } from "../../manifest/mcp-json.ts";
import type { McpServer } from "../../contract/mcp.ts";

/** Of servers with the same name the manifest's wins over the one in `.mcp.json`. */
export function resolveMcp(layers: readonly ManifestLayer[], mcpJson: string | undefined): McpServer[] {
  const found = mcpJson === undefined ? {} : readMcpJson(mcpJson).servers;
  const named = layerManifest(layers).values.mcp?.servers ?? {};
  return Object.entries({ ...found, ...named }).map(([name, entry]) => {
    const server = serverOf(name, entry);
    const isFound = server.transport === "stdio" && !Object.hasOwn(named, name);
    return isFound ? { ...server, isFound } : server;
  });
}

function serverOf(name: string, { command, url = "", args, env, transport, headers }: McpEntry): McpServer {
  const defaults = entryDefaults.mcpServers;
  if (command !== undefined)
    return { transport: "stdio", name, command, args: args ?? [...defaults.args], env: env ?? defaults.env };
  return { transport: transport ?? defaults.transport, name, url, headers: headers ?? defaults.headers };
}
