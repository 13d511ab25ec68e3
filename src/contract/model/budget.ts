import { z } from "zod";

/**
 * - `run`: one task of the agent, restarts included. `box`: the box's whole life.
 * - `day`: a UTC day; of the project's boxes when a project says so, of all boxes when the person does.
 * - `tree`: the box and every box below it by name (`shop` and `shop-worker`).
 */
export const BudgetScope = z.enum(["run", "box", "day", "tree"]);
export type BudgetScope = z.infer<typeof BudgetScope>;

export const BudgetLimit = z.strictObject({
  scope: BudgetScope,
  /** Who set it. A project cannot raise what the person set: all limits hold. */
  layer: z.enum(["user", "project", "flag"]),
  tokens: z.int().positive().optional().describe("Input and output together."),
  microUsd: z.int().positive().optional().describe("Millionths of a US dollar."),
});
export type BudgetLimit = z.infer<typeof BudgetLimit>;

/** A limit with what counts against it now. */
export const BudgetStatus = BudgetLimit.extend({
  usedTokens: z.int().min(0),
  usedMicroUsd: z.int().min(0),
  reservedTokens: z.int().min(0),
  reservedMicroUsd: z.int().min(0),
});
export type BudgetStatus = z.infer<typeof BudgetStatus>;

/** The limit that a request of the box was refused for. */
export const BudgetObstacle = z.object({
  scope: BudgetScope,
  unit: z.enum(["tokens", "microUsd"]),
  used: z.int().min(0),
  limit: z.int(),
  next: z.int().min(0).describe("The most that the refused request may use."),
  holder: z.string().describe("The box whose limit it is; that of a tree may belong to a box above."),
});
export type BudgetObstacle = z.infer<typeof BudgetObstacle>;
