import { z } from "zod";
import { AgentEvent, Verdict } from "./agent-events.ts";

/** An entry's text of a person; a task can be as long as this. */
const maxAsked = 65_536;

/** The entries that AgentBox makes itself. The agent cannot say them. */
const HostEntry = z.discriminatedUnion("kind", [
  /** A task, or a message that AgentBox has passed on. What is typed in the terminal is a `message` of a person. */
  z.object({
    kind: z.literal("asked"),
    text: z.string().max(maxAsked),
    from: z.string().max(200).optional(),
  }),
  z.object({
    kind: z.literal("turn_ended"),
    /** Only at the end of a run. */
    verdict: Verdict.optional(),
    why: z.string().max(500).optional(),
    /** As the model gateway has counted for this turn. */
    tokens: z.int().min(0),
    costMicroUsd: z.int().min(0),
    durationMs: z.int().min(0),
  }),
  z.object({
    kind: z.literal("checkpoint"),
    number: z.int().min(0),
    files: z.int().min(0),
    added: z.int().min(0),
    deleted: z.int().min(0),
  }),
  z.object({ kind: z.literal("interrupted") }),
  /** The agent said more in a minute than is kept. */
  z.object({ kind: z.literal("skipped"), count: z.int().min(1) }),
]);

export const ConversationPart = z.union([AgentEvent, HostEntry]);
export type ConversationPart = z.infer<typeof ConversationPart>;

/** `run --json` prints the same kinds; `seq` grows by one, and `turn` with what a person asks. */
export const ConversationEntry = ConversationPart.and(
  z.object({ seq: z.int().min(1), atMs: z.int(), turn: z.int().min(1) }),
);
export type ConversationEntry = z.infer<typeof ConversationEntry>;

/** `only_asked`: this agent tells what it does on its terminal and nowhere else. */
export const AgentTells = z.enum(["all", "hooks", "only_asked"]);
export type AgentTells = z.infer<typeof AgentTells>;

export const Conversation = z.object({
  entries: z.array(ConversationEntry),
  /** The oldest entry that is kept, and the newest; 0 without one. Greater than 1: older ones are gone. */
  firstSeq: z.int().min(0),
  lastSeq: z.int().min(0),
  tells: AgentTells.describe(
    "`all`: messages, thinking and tools; `hooks`: what the agent's hooks report of its terminal; `only_asked`: nothing but what it was asked, its ends and its cost.",
  ),
});
export type Conversation = z.infer<typeof Conversation>;
