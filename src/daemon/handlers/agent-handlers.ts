/** Handlers about agents: at work, their budget and cost; the catalogue and the tool store. */
import type { ServerResponse } from "node:http";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { agentRoutes } from "../../contract/api/routes/agents.ts";
import type { InstallAgent } from "../../contract/api/schemas.ts";
import { interruptAgent, resumeRun, sendMessage } from "../../core/agents/talk-to-agent.ts";
import { raiseBudget } from "../../core/budget/raise-budget.ts";
import { nameOf } from "../../core/access/caller.ts";
import { listVisible } from "../../core/access/visible-records.ts";
import { visibleUsage } from "../../core/access/visible-usage.ts";
import { getAgent } from "../../core/agents/get-agent.ts";
import { checkAgents } from "../../core/agents/check-agents.ts";
import type { Using } from "../../core/using.ts";
import { installAgent } from "../../core/agents/install-agent.ts";
import { listAgents } from "../../core/agents/list-agents.ts";
import { removeAgent } from "../../core/agents/remove-agent.ts";
import type { Handlers } from "./handlers.ts";
import { streamSteps } from "../streams/step-stream.ts";

export const agentHandlers: Pick<Handlers, keyof typeof agentRoutes> = {
  startRun: async ({ deps, params, body, access }) => ({
    box: await resumeRun(deps.core, params["box"]!, body, nameOf(access.principal)),
  }),
  sendMessage: async ({ deps, params, body, access }) => ({
    box: await sendMessage(deps.core, params["box"]!, body.text, nameOf(access.principal)),
  }),
  getConversation: ({ deps, params, query }) => deps.core.conversations.read(params["box"]!, query),
  async interruptAgent({ deps, params }) {
    await interruptAgent(deps.core, params["box"]!);
    return {};
  },
  getBudget: async ({ deps, params }) => deps.core.budgets.status(params["box"]!),
  raiseBudget: ({ deps, params, body }) => raiseBudget(deps.core, params["box"]!, body),
  listModelRequests: async ({ deps: { core }, query, access }) => {
    const { store } = core.ports;
    const requests = await listVisible(core, access, query, async ({ box, after, limit }) => {
      const incarnation = box === undefined ? undefined : (await store.findBox(box))?.incarnation;
      return store.listModel({ box, incarnation, limit, ...omitUndefined({ after }) });
    });
    return { requests };
  },
  getUsage: ({ deps, query, access }) => visibleUsage(deps.core, access, query),
  listAgents: async ({ deps }) => ({ agents: await listAgents(deps.core) }),
  installAgent: ({ deps, params, body, response }) =>
    streamInstall(deps.core, params["agent"]!, body, response),
  removeAgent: async ({ deps, params, query }) => ({
    removed: await removeAgent(deps.core, params["agent"]!, query.version),
  }),
  checkAgents: async ({ deps }) => ({ checks: await checkAgents(deps.core) }),
};

async function streamInstall(
  core: Using<"agentProblems" | "agents" | "host" | "note" | "refreshAgents" | "report" | "toolStore">,
  agent: string,
  body: InstallAgent,
  response: ServerResponse,
): Promise<void> {
  await core.ports.refreshAgents();
  // A faulty request is answered with an error; a later failure is a line of the stream.
  getAgent(core, agent);
  await streamSteps({
    core,
    response,
    what: `installing ${agent}`,
    run: async (how) => ({ tool: await installAgent(core, agent, body, how) }),
  });
}
