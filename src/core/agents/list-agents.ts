import { z } from "zod";
import { agents as builtIn } from "../../agents/index.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import type { AgentInfo } from "../../contract/api/schemas.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import type { Using } from "../using.ts";

/** The catalogue, with what is installed of it. */
export async function listAgents(
  core: Using<"agents" | "refreshAgents" | "toolStore">,
): Promise<AgentInfo[]> {
  await core.ports.refreshAgents();
  const installed = await core.ports.toolStore.list();
  return Promise.all(
    Object.values(core.ports.agents).map(async (entry) =>
      describeAgent(
        entry,
        installed.filter(({ agent }) => agent === entry.name),
        await core.ports.toolStore.pinned(entry.name),
      ),
    ),
  );
}

function describeAgent(entry: AgentEntry, installed: InstalledTool[], pinned: string | undefined): AgentInfo {
  const { name, title, description, kind, isHeadless, api, defaultModel, install, options } = entry;
  const isOurs = Object.hasOwn(builtIn, name) && builtIn[name] === entry;
  return {
    name,
    title,
    description,
    kind,
    origin: isOurs ? "built-in" : "user",
    isHeadless,
    ...omitUndefined({ api, defaultModel }),
    ...("version" in install ? { recommended: install.version } : {}),
    ...omitUndefined({ pinned }),
    installed,
    options: z.toJSONSchema(options, { io: "input" }),
    hosts: [...entry.hosts],
    traps: [...entry.traps],
  };
}
