// Token usage as the script sets it, and the sum of what was really sent.

/**
 * The kinds do not overlap, except that `reasoning` is a part of `output`: each API adds them up in its own
 * way (Anthropic reports input without the cache, OpenAI and Gemini with it).
 */
export interface Usage {
  /** Tokens of the prompt that neither came from the cache nor went into it. */
  readonly input: number;
  readonly output: number;
  /** Tokens of the prompt read from the cache. */
  readonly cached: number;
  /** Tokens of the prompt written to the cache; APIs without the notion report them as input. */
  readonly cacheWrite: number;
  readonly reasoning: number;
}

export const noUsage: Usage = { input: 0, output: 0, cached: 0, cacheWrite: 0, reasoning: 0 };

const addUsage = (one: Usage, other: Partial<Usage>): Usage => ({
  input: one.input + (other.input ?? 0),
  output: one.output + (other.output ?? 0),
  cached: one.cached + (other.cached ?? 0),
  cacheWrite: one.cacheWrite + (other.cacheWrite ?? 0),
  reasoning: one.reasoning + (other.reasoning ?? 0),
});

/** The estimate of a server without a tokenizer: four characters are one token. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / 4);

export interface UsageTotals {
  readonly all: Usage;
  readonly byModel: ReadonlyMap<string, Usage>;
}

export class UsageLedger implements UsageTotals {
  all: Usage = noUsage;
  readonly byModel = new Map<string, Usage>();

  add(model: string, usage: Partial<Usage>): void {
    this.all = addUsage(this.all, usage);
    this.byModel.set(model, addUsage(this.byModel.get(model) ?? noUsage, usage));
  }
}
