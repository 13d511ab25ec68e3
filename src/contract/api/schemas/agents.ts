import { z } from "zod";
import { ModelRecord } from "../../model/usage.ts";
import { AgentCheck, AgentInfo } from "../schemas.ts";

export const SendMessageBody = z.strictObject({ text: z.string().min(1).max(65_536) });

export const ConversationQuery = z.object({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe("Only entries with a greater seq, the oldest first."),
  before: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe("The newest entries with a smaller seq. Without `after` and `before`: the newest of all."),
  limit: z.coerce.number().int().min(1).max(10_000).default(500),
});

export const ListModelRequestsAnswer = z.object({ requests: z.array(ModelRecord) });

export const ListAgentsAnswer = z.object({ agents: z.array(AgentInfo) });

export const RemoveAgentQuery = z.object({ version: z.string().max(64).optional() });

export const RemoveAgentAnswer = z.object({ removed: z.array(z.string()) });

export const CheckAgentsAnswer = z.object({ checks: z.array(AgentCheck) });
