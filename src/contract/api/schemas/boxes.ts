import { z } from "zod";
import { Box } from "../../box.ts";
import { SessionStatus } from "../../link/messages.ts";
import { BoxSummary } from "../schemas.ts";

/** Bodies and answers that many routes share. */
export const Empty = z.strictObject({});
export const BoxAnswer = z.object({ box: Box });

export const ListBoxesAnswer = z.object({ boxes: z.array(BoxSummary) });

export const StopBoxBody = z.strictObject({ graceMs: z.int().min(0).max(600_000).optional() });

export const MoveBoxBody = z.strictObject({ runtime: z.string().min(1).max(64) });

export const GetLogsQuery = z.object({
  source: z.string().max(80).default("main").describe("`main`, another session, or `service:<name>`."),
  tail: z.coerce.number().int().min(0).max(1_000_000).optional().describe("Only the last lines."),
  follow: z.stringbool().default(false),
});

export const StartSessionAnswer = z.object({ session: SessionStatus });
