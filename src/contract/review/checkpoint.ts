import { z } from "zod";
import { ChangeTotals } from "./change.ts";

export const CheckpointReason = z.enum(["base", "turn", "timer", "manual", "review", "restore"]);
export type CheckpointReason = z.infer<typeof CheckpointReason>;

/** Everything in a workspace at one moment, kept on the host where the box cannot change it. */
export const Checkpoint = z.object({
  box: z.string(),
  incarnation: z.string(),
  /** 0 is the base: what the box began with. */
  number: z.int().min(0),
  name: z.string().optional(),
  atMs: z.int(),
  reason: CheckpointReason,
  commit: z.string(),
  tree: z.string(),
  /** The newest commit of the agent itself at that moment; the base when it made none. */
  head: z.string(),
  /** Since the base. */
  totals: ChangeTotals,
  /** Its size on the host. */
  bytes: z.int().min(0),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** A name that means no other checkpoint: neither a number nor `base` or `latest`. */
export const checkpointNamePattern = /^(?!(?:base|latest)$)[a-z][a-z0-9-]{0,47}$/;
