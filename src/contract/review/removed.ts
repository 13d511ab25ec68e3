import { z } from "zod";
import type { Box } from "../box.ts";
import { ChangeTotals } from "./change.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { UpstreamRecord } from "./upstream.ts";

/** The work of a box that has not been merged: what would be lost with the box. */
export const UnmergedWork = z.object({
  ...ChangeTotals.shape,
  commits: z.int().min(0).describe("Commits of the agent since the base."),
  problem: z.string().optional().describe("Why the newest state of the workspace is not known."),
});
export type UnmergedWork = z.infer<typeof UnmergedWork>;

/** A removed box whose work is kept for a while. */
export const RemovedBox = z.object({
  id: z.string(),
  name: z.string(),
  agent: z.string(),
  task: z.string().optional(),
  projectDir: z.string().optional(),
  removedAtMs: z.int(),
  expiresAtMs: z.int().describe("When its work is deleted."),
  unmerged: UnmergedWork.describe("What had not been merged."),
});
export type RemovedBox = z.infer<typeof RemovedBox>;

/** The same as the store has it, with all that is needed to bring the box back. */
export interface RemovedRecord {
  readonly box: string;
  readonly incarnation: string;
  readonly record: Box;
  readonly checkpoints: readonly Checkpoint[];
  /** The commit that its work was rebased onto; the base is compared with it. */
  readonly upstream: readonly UpstreamRecord[];
  readonly unmerged: UnmergedWork;
  readonly removedAtMs: number;
  readonly expiresAtMs: number;
}
