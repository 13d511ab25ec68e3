import { z } from "zod";
import { Address, EnvName, HeaderName, McpName, Text } from "./scalars.ts";

export const McpEntry = z
  .strictObject({
    command: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe("Program that is the server; it runs in the box."),
    args: z.array(Text).max(1_024).optional().describe("Arguments of the program."),
    env: z
      .record(EnvName, Text.describe("A text, for this server only."))
      .optional()
      .describe("More environment variables, for this server only."),
    url: Address.optional().describe(
      "Address of a server that runs elsewhere; the network policy must allow it.",
    ),
    transport: z.enum(["http", "sse"]).optional().describe("How the server at the address is spoken to."),
    headers: z
      .record(HeaderName, Text.describe("A header of every request."))
      .optional()
      .describe("Headers of every request to the address."),
  })
  .describe("A server of tools for the agent: exactly one of command and url.");
export type McpEntry = z.infer<typeof McpEntry>;

export const McpSection = z
  .strictObject({
    servers: z
      .record(McpName, McpEntry)
      .optional()
      .describe("The servers by name. Those of the project's .mcp.json join them."),
  })
  .describe("Which MCP servers the agent has. They run in the box, under its policy.");
