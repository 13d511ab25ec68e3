import { AgentBoxError } from "../../base/errors.ts";
import { boxPaths } from "../../contract/box-paths.ts";

/**
 * A path as people write it, `src/a.ts` or `/workspace/src/a.ts`, as one below the workspace; the workspace itself is `.`.
 * SECURITY: only the form is judged here. Where it leads is for the box to say, because the host opens nothing that a box
 * controls.
 */
export function workspacePath(path: string): string {
  const prefix = boxPaths.workspace;
  const below = path === prefix ? "" : path.startsWith(`${prefix}/`) ? path.slice(prefix.length + 1) : path;
  const parts = below.split("/").filter((part) => part !== "" && part !== ".");
  if (below.startsWith("/") || below.includes("\0") || parts.includes("..")) {
    throw new AgentBoxError("file.unsafe_path", `${JSON.stringify(path)} is not a path in the workspace.`, {
      hint: "Copy what is elsewhere in the box: agentbox cp BOX:PATH .",
    });
  }
  return parts.join("/") || ".";
}
