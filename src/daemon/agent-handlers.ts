/** Handlers of the catalogue and the tool store. */
import type { ServerResponse } from "node:http";
import { toAgentBoxError } from "../base/errors.ts";
import type { RouteName } from "../contract/api/routes.ts";
import type { InstallAgent, InstallStep } from "../contract/api/schemas.ts";
import { getAgent } from "../core/agents/get-agent.ts";
import { checkAgents } from "../core/agents/check-agents.ts";
import type { Core } from "../core/context.ts";
import { installAgent } from "../core/agents/install-agent.ts";
import { listAgents } from "../core/agents/list-agents.ts";
import { removeAgent } from "../core/agents/remove-agent.ts";
import type { Handlers } from "./handlers.ts";

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

/** One line a step. Who goes away before the end has changed their mind: the installation is given up. */
async function streamInstall(
  core: Core,
  agent: string,
  body: InstallAgent,
  response: ServerResponse,
): Promise<void> {
  await core.ports.refreshAgents();
  // What is wrong with the request is an answer of its own; what goes wrong later is a line of the stream.
  getAgent(core, agent);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.flushHeaders();
  const send = (step: InstallStep): void => {
    if (!response.writableEnded && !gone.signal.aborted) response.write(`${JSON.stringify(step)}\n`);
  };
  try {
    const tool = await installAgent(core, agent, body, {
      onProgress: (message) => send({ type: "progress", message }),
      signal: gone.signal,
    });
    send({ type: "done", tool });
  } catch (error) {
    const known = toAgentBoxError(error);
    if (known.code === "internal.unexpected")
      core.ports.report({ error: String(error), agent }, "installing failed");
    send({ type: "error", error: known.toBody() });
  }
  response.end();
}
