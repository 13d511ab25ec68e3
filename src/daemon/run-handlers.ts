/** Handlers about agents at work: their next task, their budget, their cost. */
import { omitUndefined } from "../base/omit-undefined.ts";
import { interruptAgent, resumeRun, sendMessage } from "../core/agents/talk-to-agent.ts";
import { raiseBudget } from "../core/budget/raise-budget.ts";
import { listVisible } from "../core/access/visible-records.ts";
import { visibleUsage } from "../core/access/visible-usage.ts";
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
  listModelRequests: async ({ deps: { core }, query, access }) => {
    const { store } = core.ports;
    const requests = await listVisible(core, access, query, async ({ box, after, limit }) => {
      const incarnation = box === undefined ? undefined : (await store.findBox(box))?.incarnation;
      return store.listModel({ box, incarnation, limit, ...omitUndefined({ after }) });
    });
    return { requests };
  },
  getUsage: ({ deps, query, access }) => visibleUsage(deps.core, access, query),
};
