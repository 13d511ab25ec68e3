import { isAbsolute, normalize } from "node:path/posix";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { type Box, boxPaths } from "../../contract/box.ts";
import type { Artifact } from "../../contract/link/messages.ts";

/**
 * The artifacts that must be in a box before the agent's programs run: our own, and every program that its manifest
 * names. Files in the workspace or the home are the box's own work and not promised.
 */
export function promisedArtifacts({ spec }: Pick<Box, "spec">, agentProgram: string): Artifact[] {
  const { agent, workspace, services, mcp } = spec;
  const promised: Artifact[] = [
    { what: "Node", path: boxPaths.node, kind: "program" },
    { what: "the supervisor", path: boxPaths.boxd, kind: "file" },
  ];
  if (agentProgram !== "") {
    promised.push({ what: `the agent ${agent.name}`, path: agentProgram, kind: "program" });
  }
  if (agent.skills !== undefined) {
    promised.push({ what: "the skills", path: boxPaths.skills, kind: "directory" });
  }
  if (workspace.mode === "clone" || workspace.url !== undefined) {
    promised.push({ what: "git, for the workspace", path: "git", kind: "program" });
  }
  for (const { name, argv, env } of services) {
    promised.push(...programOf(`the service ${name}`, argv[0]!, env));
  }
  for (const server of mcp) {
    if (server.transport !== "stdio" || server.isFound) continue;
    promised.push(...programOf(`the MCP server ${server.name}`, server.command, server.env));
  }
  return promised;
}

function programOf(what: string, path: string, env: Readonly<Record<string, string>>): Artifact[] {
  const isName = !path.includes("/");
  if (!isName && (!isAbsolute(path) || isOwnDirectory(normalize(path)))) return [];
  const searchPath = env["PATH"];
  return [{ what, path, kind: "program", ...omitUndefined({ searchPath }) }];
}

/** Below a directory that only the box writes to, also behind a `..`. */
const isOwnDirectory = (path: string): boolean =>
  [boxPaths.workspace, boxPaths.home, "/tmp", "/var/tmp"].some((own) => path.startsWith(`${own}/`));
