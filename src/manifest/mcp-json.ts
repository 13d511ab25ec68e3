/**
 * `.mcp.json` of a project: a file of other tools, so an entry that cannot be used is left out with a warning instead
 * of being refused. The others keep the rules of [mcp].
 */
import { safeParse, z } from "zod";
import { omitUndefined } from "../base/omit-undefined.ts";
import { printable } from "../base/printable.ts";
import { checkMcp } from "./checks/check-mcp.ts";
import { type McpEntry, McpSection } from "./sections/mcp-section.ts";
import { findUnsafeValue } from "./toml/raw-values.ts";
import { readSections } from "./read-sections.ts";
import { maxMcpServers } from "./schema.ts";

export const mcpJsonName = ".mcp.json";

export interface McpJson {
  readonly servers: Readonly<Record<string, McpEntry>>;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

const Plain = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** Other keys are other tools' business. */
const JsonServer = z.object({
  type: z.string().optional(),
  command: z.string().optional(),
  args: z.array(Plain).optional(),
  env: z.record(z.string(), Plain).optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), Plain).optional(),
  disabled: z.boolean().optional(),
});
const JsonFile = z.object({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

const transports: Readonly<Record<string, McpEntry["transport"] | "stdio">> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  sse: "sse",
};

export function readMcpJson(text: string): McpJson {
  const file = readFile(text);
  if (typeof file === "string") return { servers: {}, warnings: [`${mcpJsonName} is not used: ${file}.`] };
  const servers: Record<string, McpEntry> = {};
  const warnings: string[] = [];
  const entries = Object.entries(file.mcpServers);
  for (const [name, raw] of entries.slice(0, maxMcpServers)) {
    const server = readServer(name, raw);
    if (typeof server === "string")
      warnings.push(
        printable(`The MCP server "${name.slice(0, 64)}" of ${mcpJsonName} is left out: ${server}`),
      );
    else if (server !== undefined) servers[name] = server;
  }
  if (entries.length > maxMcpServers)
    warnings.push(`Only the first ${maxMcpServers} MCP servers of ${mcpJsonName} are used.`);
  return { servers, warnings };
}

function readFile(text: string): z.infer<typeof JsonFile> | string {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return "it is not valid JSON";
  }
  // SECURITY: before anything copies its keys into objects or shows its texts.
  const unsafe = findUnsafeValue(raw);
  if (unsafe) return unsafe.message.replace(/\.$/, "");
  const parsed = safeParse(JsonFile, raw);
  return parsed.success ? parsed.data : 'it has no table "mcpServers"';
}

/** The server, a reason to leave it out, or undefined for one that is switched off. */
function readServer(name: string, raw: unknown): McpEntry | string | undefined {
  const parsed = safeParse(JsonServer, raw);
  if (!parsed.success) return "it is not of the expected form.";
  const { type, disabled = false, command, args, env, url, headers } = parsed.data;
  if (disabled) return undefined;
  const transport = transports[type ?? (url === undefined ? "stdio" : "http")];
  if (transport === undefined) return `the transport "${type}" is not known.`;
  const entry =
    transport === "stdio"
      ? omitUndefined({ command, args, env })
      : omitUndefined({ url, transport, headers });
  const { problems, values } = readSections(
    { mcp: { servers: { [name]: entry } } },
    z.object({ mcp: McpSection }),
  );
  const wrong = [...problems, ...checkMcp(values, {})].find(({ code }) => code.startsWith("E"));
  return wrong === undefined ? values.mcp!.servers![name] : wrong.message;
}
