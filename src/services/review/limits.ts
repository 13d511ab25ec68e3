/** How much of a box's work is looked at, and for how long: the numbers that keep the host usable. */
import type { BundleLimits } from "../../ports/review.ts";

export interface ReviewLimits extends BundleLimits {
  readonly maxChanges: number;
  /** Address space of one git, which holds whole files and trees in memory when they are sent as differences. */
  readonly maxMemoryBytes: number;
  /** For all checks of a bundle together. */
  readonly takeTimeoutMs: number;
  readonly readTimeoutMs: number;
}

export const defaultLimits: ReviewLimits = {
  maxBytes: 2 ** 31,
  maxObjects: 2_000_000,
  maxBlobBytes: 2 ** 31,
  maxChanges: 100_000,
  maxMemoryBytes: 4 * 2 ** 30,
  takeTimeoutMs: 10 * 60_000,
  readTimeoutMs: 2 * 60_000,
};
