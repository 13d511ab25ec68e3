import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { InstallAgent } from "../../contract/api/schemas.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import type { InstallRequest } from "../../ports/tool-store.ts";
import { getAgent } from "./get-agent.ts";
import type { Using } from "../using.ts";

/**
 * Installs an agent and pins it: boxes made from now on get this version, those that exist keep theirs. With `keepPin`
 * it is only for a box that asks for exactly this version.
 */
export async function installAgent(
  core: Using<"agentProblems" | "agents" | "host" | "note" | "refreshAgents" | "toolStore">,
  agent: string,
  { version, from, projectDir, digest, keepPin = false }: InstallAgent,
  how: Pick<InstallRequest, "onProgress" | "signal">,
): Promise<InstalledTool> {
  await core.ports.refreshAgents();
  const { toolStore } = core.ports;
  const recipe = getAgent(core, agent).install;
  const project = projectDir === undefined ? undefined : await realProject(core, projectDir);
  const before = await toolStore.pinned(agent);
  const present = (await toolStore.list()).filter((tool) => tool.agent === agent);
  const tool = await toolStore.install({ agent, recipe, version, from, expectedDigest: digest, ...how });
  const isPinned = before === undefined || !keepPin;
  if (isPinned) await toolStore.pin(agent, tool.version);
  if (project !== undefined) await toolStore.pinProject(project, agent, tool.version);
  const isNew = !present.some((other) => other.installedAtMs === tool.installedAtMs);
  if (isNew || (isPinned && before !== tool.version)) {
    await core.note("tool.installed", undefined, {
      agent,
      version: tool.version,
      digest: tool.digest,
      ...omitUndefined({ integrity: tool.integrity }),
      isPinned,
      ...omitUndefined({ before }),
    });
  }
  return tool;
}

async function realProject(core: Using<"host">, dir: string): Promise<string> {
  const real = dir.startsWith("/") ? await core.ports.host.realPath(dir) : undefined;
  if (real !== undefined) return real;
  throw new AgentBoxError("input.invalid", `The project directory ${dir.slice(0, 200)} does not exist.`, {
    hint: "Give the absolute path of a directory.",
  });
}
