import { z } from "zod";
import { MainSession } from "../../box.ts";

/** The command of a box. */
export const PlannedCommand = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("none") }).describe("Nothing is started."),
  z
    .object({
      kind: z.literal("exec"),
      argv: z.array(z.string()).min(1),
      env: z.record(z.string(), z.string()),
    })
    .describe("The command of a box for commands; its caller runs it."),
  z.object({ kind: z.literal("session"), main: MainSession }).describe("A command as the main session."),
  z
    .object({
      kind: z.literal("agent"),
      mode: z.enum(["interactive", "headless"]),
      task: z.string().optional(),
    })
    .describe("The agent, at a terminal or on a task."),
]);
export type PlannedCommand = z.infer<typeof PlannedCommand>;
