import { z } from "zod";
import { ModelRecord } from "../../model/usage.ts";
import { AgentCheck, AgentInfo } from "../schemas.ts";

export const SendMessageBody = z.strictObject({ text: z.string().min(1).max(65_536) });

export const ListModelRequestsAnswer = z.object({ requests: z.array(ModelRecord) });

export const ListAgentsAnswer = z.object({ agents: z.array(AgentInfo) });

export const RemoveAgentQuery = z.object({ version: z.string().max(64).optional() });

export const RemoveAgentAnswer = z.object({ removed: z.array(z.string()) });

export const CheckAgentsAnswer = z.object({ checks: z.array(AgentCheck) });
