/** Handlers of the catalogue and the tool store. */
import type { ServerResponse } from "node:http";
import type { RouteName } from "../contract/api/routes.ts";
import type { InstallAgent } from "../contract/api/schemas.ts";
import { getAgent } from "../core/agents/get-agent.ts";
import { checkAgents } from "../core/agents/check-agents.ts";
import type { Core } from "../core/context.ts";
import { installAgent } from "../core/agents/install-agent.ts";
import { listAgents } from "../core/agents/list-agents.ts";
import { removeAgent } from "../core/agents/remove-agent.ts";
import type { Handlers } from "./handlers.ts";
import { streamSteps } from "./step-stream.ts";

type AgentRoute = Extract<RouteName, "listAgents" | "installAgent" | "removeAgent" | "checkAgents">;

export const agentHandlers: Pick<Handlers, AgentRoute> = {
  listAgents: async ({ deps }) => ({ agents: await listAgents(deps.core) }),
  installAgent: ({ deps, params, body, response }) =>
    streamInstall(deps.core, params["agent"]!, body, response),
  removeAgent: async ({ deps, params, query }) => ({
    removed: await removeAgent(deps.core, params["agent"]!, query.version),
  }),
  checkAgents: async ({ deps }) => ({ checks: await checkAgents(deps.core) }),
};

async function streamInstall(
  core: Core,
  agent: string,
  body: InstallAgent,
  response: ServerResponse,
): Promise<void> {
  await core.ports.refreshAgents();
  // What is wrong with the request is an answer of its own; what goes wrong later is a line of the stream.
  getAgent(core, agent);
  await streamSteps({
    core,
    response,
    what: `installing ${agent}`,
    run: async (how) => ({ tool: await installAgent(core, agent, body, how) }),
  });
}
