/** Handlers about agents at work: their next task, their budget, their cost. */
import { interruptAgent, resumeRun, sendMessage } from "../core/agents/talk-to-agent.ts";
import { raiseBudget } from "../core/budget/raise-budget.ts";
import { readUsage } from "../core/budget/read-usage.ts";
import type { Handlers } from "./handlers.ts";

export const runHandlers: Pick<
  Handlers,
  | "startRun"
  | "sendMessage"
  | "interruptAgent"
  | "getBudget"
  | "raiseBudget"
  | "getUsage"
  | "listModelRequests"
> = {
  startRun: async ({ deps, params, body }) => ({ box: await resumeRun(deps.core, params["box"]!, body) }),
  sendMessage: async ({ deps, params, body }) => ({
    box: await sendMessage(deps.core, params["box"]!, body.text),
  }),
  async interruptAgent({ deps, params }) {
    await interruptAgent(deps.core, params["box"]!);
    return {};
  },
  getBudget: async ({ deps, params }) => deps.core.budgets.status(params["box"]!),
  raiseBudget: ({ deps, params, body }) => raiseBudget(deps.core, params["box"]!, body),
  listModelRequests: async ({ deps, query: { box, after, limit } }) => {
    const { store } = deps.core.ports;
    const incarnation = box === undefined ? undefined : (await store.findBox(box))?.incarnation;
    const query = { box, incarnation, limit, ...(after === undefined ? {} : { after }) };
    return { requests: [...(await store.listModel(query))] };
  },
  getUsage: ({ deps, query }) => readUsage(deps.core, query),
};
