export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** A number in [0, 1); taken as an argument so that decisions stay pure. */
  readonly random?: () => number;
}

/** Exponential backoff with up to 25 % jitter; `attempt` counts from 0. */
export function backoffMs(attempt: number, { firstMs, maxMs, random = () => 0 }: BackoffOptions): number {
  const base = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(base * (1 + 0.25 * random()));
}
