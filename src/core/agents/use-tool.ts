import { isAgentBoxError } from "../../base/errors.ts";
import type { UsableTool } from "../../ports/tool-store.ts";
import { getAgent } from "./get-agent.ts";
import type { Using } from "../using.ts";

/** An installed agent, verified. A refusal goes to the log as well as to the caller. */
export async function useTool(
  core: Using<"agentProblems" | "agents" | "note" | "toolStore">,
  agent: string,
  version?: string,
): Promise<UsableTool> {
  try {
    return await findTool(core, agent, version);
  } catch (error) {
    if (isAgentBoxError(error, "tool.tampered"))
      await core.note("tool.refused", undefined, { ...error.facts });
    throw error;
  }
}

/** The same without a record of a refusal. */
export const findTool = async (
  core: Using<"agents" | "agentProblems" | "toolStore">,
  agent: string,
  version?: string,
): Promise<UsableTool> => core.ports.toolStore.use(agent, getAgent(core, agent).install, version);
