import { z } from "zod";
import { PolicyLayer } from "./policy.ts";

/** One decision of the gate, as the audit keeps it. Never a secret: credentials in URLs are taken out before. */
export const EgressRecord = z.object({
  id: z.int(),
  atMs: z.int(),
  box: z.string(),
  incarnation: z.string(),
  /** The program in the box that asked, where boxd could tell. It comes from the box: a hint, not a fact. */
  program: z.string().optional(),
  /** How it reached the gate. */
  via: z.enum(["tcp", "proxy", "dns", "ssh-agent"]),
  host: z.string(),
  port: z.int(),
  method: z.string().optional(),
  path: z.string().optional(),
  verdict: z.enum(["allow", "deny"]),
  reason: z.string().optional(),
  rule: z.string().optional(),
  layer: PolicyLayer.optional(),
  bytesOut: z.int(),
  bytesIn: z.int(),
  status: z.int().optional(),
  durationMs: z.int().optional(),
  /** The receipt: which secret went into the request, or was refused to it. */
  secret: z.string().optional(),
  isInjected: z.boolean().optional(),
  /** How many of the same kind this one record stands for; one without it. */
  count: z.int().optional(),
});
export type EgressRecord = z.infer<typeof EgressRecord>;
export type NewEgressRecord = Omit<EgressRecord, "id">;

/** One line of `agentbox net BOX`. */
export const HostSummary = z.object({
  host: z.string(),
  port: z.int(),
  requests: z.int(),
  denials: z.int(),
  bytesOut: z.int(),
  bytesIn: z.int(),
  open: z.int().describe("Connections open now."),
  lastAtMs: z.int(),
  lastReason: z.string().optional(),
  /** Secrets that went into requests there, with how often. */
  secrets: z.record(z.string(), z.int()).optional(),
});
export type HostSummary = z.infer<typeof HostSummary>;

/** A question that waits for a person. */
export const Approval = z.object({
  id: z.int(),
  askedAtMs: z.int(),
  expiresAtMs: z.int(),
  box: z.string(),
  projectDir: z.string().optional(),
  host: z.string(),
  port: z.int(),
  method: z.string().optional(),
  path: z.string().optional(),
  program: z.string().optional(),
  /** The vault's name of a secret, where the question is about using it. */
  secret: z.string().optional(),
  /** One sentence: exactly what a yes would allow. */
  sentence: z.string(),
  /** Of all that a yes is about; an answer that carries it is for this question and no other. */
  digest: z.string(),
});
export type Approval = z.infer<typeof Approval>;

/** A question that ended without an answer: a yes to it holds from now on, for as much as was shown. */
export const MissedApproval = Approval.omit({ expiresAtMs: true }).extend({
  missedAtMs: z.int(),
  times: z.int().describe("How often the box asked for this and got no answer."),
});
export type MissedApproval = z.infer<typeof MissedApproval>;

export const ApprovalAnswer = z.strictObject({
  answer: z.enum(["allow", "deny"]),
  /** once: this connection only. box: this box until it ends or the time is over. project: boxes of this project. */
  scope: z.enum(["once", "box", "project"]).default("once"),
  ttlMs: z
    .int()
    .min(1_000)
    .max(90 * 86_400_000)
    .optional()
    .describe("How long a yes for a box or project holds; one day unless given."),
  digest: z
    .string()
    .max(128)
    .optional()
    .describe("Of the question that was looked at; another one is refused."),
});
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/** A yes to what was denied before, for as much of it as was known then. */
export const AllowEgress = z.strictObject({
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  method: z
    .string()
    .regex(/^[A-Z]{1,32}$/, "a method such as GET")
    .optional(),
  path: z.string().max(4096).optional().describe("Exactly this path; no pattern."),
  scope: z.enum(["box", "project"]).default("box"),
  ttlMs: ApprovalAnswer.shape.ttlMs,
});
export type AllowEgress = z.infer<typeof AllowEgress>;
