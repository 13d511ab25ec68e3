import { formatBytes } from "../../base/bytes.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { InstallRecipe } from "../../contract/agent.ts";
import type { AgentCheck } from "../../contract/api/schemas.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import type { CatalogueProblem } from "../context.ts";
import type { Using } from "../using.ts";

/** Reads everything that is installed again, and says what is missing or was changed. */
export async function checkAgents(
  core: Using<"agentProblems" | "agents" | "note" | "refreshAgents" | "toolStore">,
): Promise<AgentCheck[]> {
  await core.ports.refreshAgents();
  const installed = await core.ports.toolStore.list();
  const checks: AgentCheck[] = [];
  for (const { name, install } of Object.values(core.ports.agents)) {
    if (install.kind === "none") continue;
    const tools = installed.filter(({ agent }) => agent === name);
    if (tools.length === 0) checks.push(absent(name, install));
    // One after the other: each reads hundreds of megabytes.
    for (const tool of tools) checks.push(await checkTool(core, tool));
  }
  return [...checks, ...core.ports.agentProblems.map(describeProblem)];
}

/** A definition of the person's own that cannot be used. */
const describeProblem = ({ agent, error }: CatalogueProblem): AgentCheck => ({
  agent,
  status: "broken",
  detail: error.message,
  ...omitUndefined({ fix: error.hint }),
});

const absent = (agent: string, install: InstallRecipe): AgentCheck => ({
  agent,
  status: "absent",
  detail: "not installed",
  fix: install.kind === "path" ? `agentbox agents add ${agent} --from PATH` : `agentbox agents add ${agent}`,
});

async function checkTool(
  core: Using<"note" | "toolStore">,
  { agent, version, bytes, files, source }: InstalledTool,
): Promise<AgentCheck> {
  const { isWhole, problem } = await core.ports.toolStore.verify(agent, version);
  if (isWhole) return { agent, status: "ready", version, detail: `${files} files, ${formatBytes(bytes)}` };
  await core.note("tool.refused", undefined, { agent, version, problem });
  const from = source === "path" ? " --from PATH" : "";
  return {
    agent,
    status: "broken",
    version,
    detail: problem ?? "it is not what was installed",
    fix: `agentbox agents add ${agent}@${version}${from}`,
  };
}
