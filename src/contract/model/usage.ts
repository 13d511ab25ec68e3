import { z } from "zod";

const Count = z.int().min(0);

/** Tokens of one answer, in one vocabulary. `input` counts all input; `cached` and `cacheWrite` are parts of it. */
export const TokenUsage = z.object({
  input: Count,
  output: Count.describe("All output, reasoning included."),
  cached: Count.describe("Part of the input that was read from the provider's cache."),
  cacheWrite: Count.describe("Part of the input that was written to the provider's cache."),
  reasoning: Count.describe("Part of the output that was reasoning."),
});
export type TokenUsage = z.infer<typeof TokenUsage>;

export const noUsage: TokenUsage = { input: 0, output: 0, cached: 0, cacheWrite: 0, reasoning: 0 };

/** One request to a model, as it is kept. */
export const ModelRecord = z.object({
  id: z.int(),
  atMs: z.int(),
  box: z.string(),
  incarnation: z.string(),
  /** Which start of the box; the budget of a run counts these. */
  run: z.int(),
  agent: z.string(),
  projectDir: z.string().optional(),
  provider: z.string(),
  model: z.string(),
  /** The vendor's numbers; absent when the answer broke off before them. */
  usage: TokenUsage.optional(),
  /** The estimate before the request was sent. */
  estimate: z.object({ input: Count, output: Count }),
  /** Millionths of a US dollar; absent when the price of the model is not known. Never zero for "unknown". */
  costMicroUsd: z.int().min(0).optional(),
  status: z.int().describe("HTTP status of the answer; 0 when there was none."),
  /** A code of ours or of the vendor when it was no success. */
  error: z.string().max(128).optional(),
  durationMs: z.int().min(0),
  firstByteMs: z.int().min(0).optional(),
});
export type ModelRecord = z.infer<typeof ModelRecord>;
export type NewModelRecord = Omit<ModelRecord, "id">;

/** Sums of records. `costMicroUsd` is the sum of the known costs; `unpriced` says how many had none. */
export const UsageTotals = z.object({
  requests: Count,
  usage: TokenUsage,
  costMicroUsd: Count,
  unpriced: Count,
  /** Requests whose answer had no usage, so that the estimate was counted. */
  estimated: Count,
});
export type UsageTotals = z.infer<typeof UsageTotals>;
