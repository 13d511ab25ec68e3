import { z } from "zod";

/** An MCP server as the box has it. It runs in the box, or is reached from it, under the box's own policy. */
export const McpServer = z.discriminatedUnion("transport", [
  z.strictObject({
    transport: z.literal("stdio"),
    name: z.string(),
    command: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    /** From the project's own `.mcp.json`, and not the manifest: its program is not promised to be there. */
    isFound: z.boolean().optional(),
  }),
  z.strictObject({
    transport: z.enum(["http", "sse"]),
    name: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
  }),
]);
export type McpServer = z.infer<typeof McpServer>;
