import { z } from "zod";
import { TokenUsage } from "./model/usage.ts";

/** Texts come from the box, so they are cut: to this for a box's conversation, and to less for the event log. */
export const maxSaidText = 32_768;
export const maxEventText = 4_096;
const Text = z.string().max(maxSaidText);

/** The actions of any agent, in one vocabulary. `agentbox run --json` prints these. */
export const AgentEvent = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("session_started"), conversation: z.string().max(128), model: Text.optional() }),
  z.object({ kind: z.literal("message"), role: z.enum(["agent", "person"]), text: Text }),
  z.object({ kind: z.literal("thinking"), text: Text }),
  z.object({
    kind: z.literal("tool_called"),
    id: z.string().max(128),
    tool: z.string().max(128),
    /** One line that a person understands: the command, the file, the query. */
    summary: Text,
    /** All of the input, where it says more than the summary. Only in a box's conversation. */
    input: Text.optional(),
    /** The lines that it takes out and puts in, where it edits a file. Only in a box's conversation. */
    diff: Text.optional(),
  }),
  z.object({
    kind: z.literal("tool_answered"),
    id: z.string().max(128),
    isError: z.boolean(),
    summary: Text,
  }),
  z.object({
    kind: z.literal("file_changed"),
    path: Text,
    change: z.enum(["created", "changed", "deleted"]),
  }),
  z.object({ kind: z.literal("approval_asked"), what: Text }),
  z.object({ kind: z.literal("usage"), usage: TokenUsage, model: Text.optional() }),
  z.object({ kind: z.literal("error"), message: Text, isFatal: z.boolean() }),
  /** The agent is done with what it was asked, or says that it could not do it. */
  z.object({ kind: z.literal("turn_done"), isError: z.boolean(), text: Text.optional() }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** The event log keeps less of it than the conversation of its box. */
export function eventForLog(event: AgentEvent): Record<string, unknown> {
  const { input: _input, diff: _diff, ...rest }: AgentEvent & Record<string, unknown> = event;
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      typeof value === "string" ? value.slice(0, maxEventText) : value,
    ]),
  );
}

/** `waiting`: for the person. `stuck`: it should be working and nothing has happened for too long. */
export const AgentState = z.enum(["idle", "working", "waiting", "stuck", "done"]);
export type AgentState = z.infer<typeof AgentState>;

/**
 * How a run ended, in AgentBox's own words, because agents' exit codes lie. `gave_up`: the model could not be
 * reached, or refused, until the agent or AgentBox stopped trying.
 */
export const Verdict = z.enum(["done", "failed", "gave_up", "out_of_budget", "timed_out", "interrupted"]);
export type Verdict = z.infer<typeof Verdict>;

/** Exit codes of `agentbox run --task`. */
export const verdictExitCodes = {
  done: 0,
  failed: 1,
  gave_up: 7,
  out_of_budget: 8,
  timed_out: 124,
  interrupted: 130,
} as const satisfies Record<Verdict, number>;

/** One run of an agent in a box; kept with the box, so that the same conversation goes on after any restart. */
export const AgentRun = z.object({
  mode: z.enum(["interactive", "headless"]),
  task: z.string().max(65_536).optional(),
  /** Who gave it. */
  from: z.string().max(200).optional(),
  /** The agent's own id of the conversation, once it is known. */
  conversation: z.string().max(128).optional(),
  /** Tasks of this conversation so far, and how often the agent has been started for the latest. */
  turns: z.int().min(1),
  starts: z.int().min(0),
  /** When the agent must be done, on the wall clock. */
  deadlineMs: z.int().optional(),
  timeoutMs: z.int().positive().optional(),
  state: AgentState,
  stateSinceMs: z.int(),
  verdict: Verdict.optional(),
  /** One sentence. */
  why: z.string().max(500).optional(),
});
export type AgentRun = z.infer<typeof AgentRun>;
