import { z } from "zod";
import { SecurityException } from "../box.ts";
import { UsageTotals } from "../model/usage.ts";
import { Change, ChangeTotals } from "./change.ts";
import { CheckResult } from "./check.ts";
import { Checkpoint } from "./checkpoint.ts";
import { ReviewComment } from "./comment.ts";
import { Danger } from "./danger.ts";
import { DangerLook } from "./danger-look.ts";
import { CommitDangers } from "./history.ts";
import { LandingProposal } from "./proposal.ts";

/** The events in a box, besides its diff. */
export const SessionSummary = z.object({
  durationMs: z.int().min(0),
  turns: z.int().min(0),
  commands: z.int().min(0).describe("Tools the agent called, as far as it tells."),
  hostsReached: z.array(z.string()),
  hostsDenied: z.array(z.string()),
  usage: UsageTotals,
  verdict: z.string().optional(),
  secrets: z
    .array(
      z.object({
        name: z.string().describe("The vault's name of it."),
        uses: z.int().min(0).describe("How often the host used it for the box."),
        isHeld: z
          .boolean()
          .describe("Whether the box holds the value itself; what it did with it is not known."),
      }),
    )
    .default([]),
  exceptions: z.array(SecurityException).default([]).describe("What the box had beyond the baseline."),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

/** Everything a person looks at before the work lands. */
export const Review = z.object({
  box: z.string(),
  agent: z.string(),
  from: z.string().describe("`base`, or the checkpoint that was asked for."),
  checkpoint: Checkpoint.optional().describe("Absent when the box has changed nothing."),
  totals: ChangeTotals,
  dangers: z.array(Danger).describe("First what executes or widens an agent's power."),
  history: z
    .array(CommitDangers)
    .describe("Dangers of single commits, which land only where the agent's own commits do."),
  changes: z.array(Change),
  comments: z.array(ReviewComment),
  checks: z.array(CheckResult).describe("Of exactly this state."),
  requiredChecks: z.array(z.string()),
  summary: SessionSummary,
  /** Names this state: what is merged is what was looked at. */
  digest: z.string(),
  proposal: LandingProposal.optional().describe("Absent where nothing of this can land."),
  looks: z.array(DangerLook).optional().describe("What the caller has marked as looked at."),
  seen: z.string().optional().describe("Digest of the state that the caller was last shown as a whole."),
});
export type Review = z.infer<typeof Review>;
