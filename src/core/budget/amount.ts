/** Both things that budgets count. */
import { type NewModelRecord, noUsage, type TokenUsage } from "../../contract/model/usage.ts";

export interface Amount {
  readonly tokens: number;
  readonly microUsd: number;
}

export const zeroAmount: Amount = { tokens: 0, microUsd: 0 };

export const plus = (a: Amount, b: Amount): Amount => ({
  tokens: a.tokens + b.tokens,
  microUsd: a.microUsd + b.microUsd,
});

export const minus = (a: Amount, b: Amount): Amount => ({
  tokens: a.tokens - b.tokens,
  microUsd: a.microUsd - b.microUsd,
});

/** More than any request has; keeps sums far from where numbers stop being exact. */
const maxTokens = 100_000_000;

/** SECURITY: counts come from the box or a server it chose; a negative one would give budget back. */
export const tokenCount = (value: number): number =>
  Number.isNaN(value) ? maxTokens : Math.min(Math.max(Math.ceil(value), 0), maxTokens);

export function checkedUsage(usage: TokenUsage): TokenUsage {
  const input = tokenCount(usage.input);
  const output = tokenCount(usage.output);
  const cached = Math.min(tokenCount(usage.cached), input);
  return {
    input,
    output,
    cached,
    cacheWrite: Math.min(tokenCount(usage.cacheWrite), input - cached),
    reasoning: Math.min(tokenCount(usage.reasoning), output),
  };
}

/** The amount that a record counts for: its usage, or the estimate where usage is unknown. */
export function amountOf(record: Pick<NewModelRecord, "usage" | "estimate" | "costMicroUsd">): Amount {
  const { input, output } = record.usage ?? { ...noUsage, ...record.estimate };
  return { tokens: input + output, microUsd: record.costMicroUsd ?? 0 };
}
