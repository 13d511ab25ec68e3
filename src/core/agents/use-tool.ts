import { isAgentBoxError } from "../../base/errors.ts";
import type { UsableTool } from "../../ports/tool-store.ts";
import { getAgent } from "./get-agent.ts";
import type { Core } from "../context.ts";

/** An installed agent, verified. That one was refused is for the log as well as for whoever asked. */
export async function useTool(core: Core, agent: string, version?: string): Promise<UsableTool> {
  const { toolStore } = core.ports;
  try {
    return await toolStore.use(agent, getAgent(core, agent).install, version);
  } catch (error) {
    if (isAgentBoxError(error, "tool.tampered"))
      await core.note("tool.refused", undefined, { ...error.facts });
    throw error;
  }
}
