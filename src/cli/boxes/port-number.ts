import { AgentBoxError } from "../../base/errors.ts";

/** A TCP port as people type it. */
export function parsePort(text: string, box: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new AgentBoxError("input.invalid", `"${text}" is not the number of a port.`, {
    hint: `See what listens: agentbox ports ${box}`,
  });
}
