import { parseMcpUrl } from "../../contract/mcp-url.ts";
import type { Check } from "./check-context.ts";
import { type Problem, quote } from "../finding.ts";
import type { McpEntry } from "../sections/mcp-section.ts";
import type { Path } from "../path.ts";
import { maxMcpServers } from "../schema.ts";

export const checkMcp: Check = ({ mcp = {} }) => {
  const servers = Object.entries(mcp.servers ?? {});
  if (servers.length > maxMcpServers) {
    const message = `There are ${servers.length} MCP servers, and at most ${maxMcpServers} are allowed.`;
    return [
      { code: "E014", path: ["mcp", "servers"], at: "key", message, hint: "Keep those the work needs." },
    ];
  }
  return servers.flatMap(([name, entry]) => checkServer(name, entry, ["mcp", "servers", name]));
};

function checkServer(name: string, entry: McpEntry, path: Path): Problem[] {
  const { command, url, headers = {} } = entry;
  if ((command === undefined) === (url === undefined)) {
    const message = `The MCP server ${quote(name)} has ${command === undefined ? "neither command nor url" : "command and url"}.`;
    return [{ code: "E050", path, message, hint: "Keep exactly one of command and url." }];
  }
  return [
    ...(url === undefined ? [] : checkUrl(url, [...path, "url"])),
    ...Object.entries(headers).flatMap(([header, value]) =>
      checkHeader(header, value, [...path, "headers", header]),
    ),
    ...checkUnused(entry, path),
  ];
}

function checkUrl(url: string, path: Path): Problem[] {
  const parsed = parseMcpUrl(url);
  if ("problem" in parsed) {
    const message = `The address ${quote(url)} cannot be used: ${parsed.problem}.`;
    return [{ code: "E052", path, message, hint: 'Write it like "https://mcp.example.org/mcp".' }];
  }
  if (!parsed.isInClear) return [];
  const message = `The address ${quote(url)} is on the internet and not encrypted.`;
  return [{ code: "W006", path, message, hint: "Use https where the server has it." }];
}

function checkHeader(name: string, value: string, path: Path): Problem[] {
  if (/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) return [];
  const message = `The value of the header ${quote(name)} has a character that headers cannot have.`;
  return [{ code: "E055", path, message, hint: "Write it in one line of plain characters." }];
}

/** Keys that belong to the other kind of server. */
function checkUnused(entry: McpEntry, path: Path): Problem[] {
  const keys = entry.url === undefined ? (["transport", "headers"] as const) : (["args", "env"] as const);
  return keys
    .filter((key) => entry[key] !== undefined)
    .map((key) => ({
      code: "W005",
      path: [...path, key],
      at: "key",
      message: `${key} has no effect on a server with ${entry.url === undefined ? "command" : "url"}.`,
      hint: "Remove it.",
    }));
}
