/** Routes about agents: what they do, what they spend, what is installed. */
import { z } from "zod";
import { ModelRecord } from "../model/usage.ts";
import { type Route, boxAnswer, empty, none } from "./route.ts";
import {
  AgentCheck,
  AgentInfo,
  BudgetAnswer,
  InstallAgent,
  ModelRequestFilter,
  RaiseBudget,
  ResumeRun,
  UsageAnswer,
  UsageFilter,
} from "./schemas.ts";

export const agentRoutes = {
  startRun: {
    method: "POST",
    path: "/v1/boxes/{box}/run",
    summary: "Go on with the box's conversation: a new task, or a terminal.",
    body: ResumeRun,
    response: boxAnswer,
  },
  sendMessage: {
    method: "POST",
    path: "/v1/boxes/{box}/send",
    summary: "Say something to the agent: typed into its terminal, or as the next task of the conversation.",
    body: z.strictObject({ text: z.string().min(1).max(65_536) }),
    response: boxAnswer,
  },
  interruptAgent: {
    method: "POST",
    path: "/v1/boxes/{box}/interrupt",
    summary: "Make the agent stop what it is doing; its box stays.",
    body: empty,
    response: none,
  },
  getBudget: {
    method: "GET",
    path: "/v1/boxes/{box}/budget",
    summary: "The limits that hold for a box and what counts against them.",
    response: BudgetAnswer,
  },
  raiseBudget: {
    method: "POST",
    path: "/v1/boxes/{box}/budget",
    summary: "Add to a limit; a box that waits for it goes on.",
    body: RaiseBudget,
    response: BudgetAnswer,
  },
  getUsage: {
    method: "GET",
    path: "/v1/usage",
    summary: "Tokens and cost.",
    query: UsageFilter,
    response: UsageAnswer,
  },

  listModelRequests: {
    method: "GET",
    path: "/v1/usage/requests",
    summary: "Requests to models one by one: what was expected, what the vendor reported, what it cost.",
    query: ModelRequestFilter,
    response: z.object({ requests: z.array(ModelRecord) }),
  },

  listAgents: {
    method: "GET",
    path: "/v1/agents",
    summary: "The catalogue, with what is installed.",
    response: z.object({ agents: z.array(AgentInfo) }),
  },
  installAgent: {
    method: "POST",
    path: "/v1/agents/{agent}",
    summary: "Install an agent and pin it; answers with InstallStep objects, one a line.",
    body: InstallAgent,
    response: none,
    media: "stream",
  },
  removeAgent: {
    method: "DELETE",
    path: "/v1/agents/{agent}",
    summary: "Remove a version of an agent, or all of them.",
    query: z.object({ version: z.string().max(64).optional() }),
    response: z.object({ removed: z.array(z.string()) }),
  },
  checkAgents: {
    method: "GET",
    path: "/v1/agents/check",
    summary: "Hashes what is installed again: ready, absent or broken, and the fix.",
    response: z.object({ checks: z.array(AgentCheck) }),
  },
} as const satisfies Record<string, Route>;
