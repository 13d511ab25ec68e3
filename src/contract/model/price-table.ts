import type { ModelPrice, PriceTable } from "./price.ts";

/** Anthropic: a cache hit is a tenth of the input; a write that lives five minutes is a quarter more than the input. */
const anthropic = (input: number, output: number, more: Partial<ModelPrice> = {}): ModelPrice => ({
  input,
  output,
  cached: input / 10,
  cache_write: input * 1.25,
  ...more,
});

/** OpenAI and Gemini have no price of their own for what is written to the cache. */
const plain = (
  input: number,
  cached: number,
  output: number,
  more: Partial<ModelPrice> = {},
): ModelPrice => ({
  input,
  output,
  cached,
  ...more,
});

/** Since February 2026 Anthropic's models cost a tenth more where they must run in one country. */
const inUs = { "inference_geo=us": 1.1 };
const fast = (factor: number): Partial<ModelPrice> => ({ terms: { ...inUs, "speed=fast": factor } });
const priority = (factor: number): Partial<ModelPrice> => ({ terms: { "service_tier=priority": factor } });
const longAbove = (above: number): Partial<ModelPrice> => ({ long: { above, input: 2, output: 1.5 } });

/**
 * List prices of the vendors' standard tier, by exact name; a date at the end of a model's name is ignored where it is
 * not listed itself. A model that is not here has an unknown cost, and is shown so. Beside the price, as far as they
 * are public: the cost of long prompts, and the factors of dearer tiers. A budget of money refuses tiers that are not
 * here, and the vendors' own tools, which have fees.
 */
export const builtInPrices: PriceTable = {
  date: "2026-11-15",
  prices: {
    "claude-fable-5": anthropic(10, 50, { terms: inUs }),
    "claude-opus-5": anthropic(5, 25, fast(2)),
    "claude-opus-4-8": anthropic(5, 25, fast(2)),
    "claude-opus-4-7": anthropic(5, 25, fast(6)),
    "claude-opus-4-6": anthropic(5, 25, fast(6)),
    "claude-opus-4-5": anthropic(5, 25),
    "claude-opus-4-1": anthropic(15, 75),
    "claude-opus-4-0": anthropic(15, 75),
    "claude-opus-4": anthropic(15, 75),
    "claude-sonnet-5": anthropic(2, 10, { terms: inUs }),
    "claude-sonnet-4-6": anthropic(3, 15, { terms: inUs }),
    "claude-sonnet-4-5": anthropic(3, 15, longAbove(200_000)),
    "claude-sonnet-4-0": anthropic(3, 15, longAbove(200_000)),
    "claude-sonnet-4": anthropic(3, 15, longAbove(200_000)),
    "claude-3-7-sonnet": anthropic(3, 15),
    "claude-haiku-4-5": anthropic(1, 5),
    "claude-3-5-haiku": anthropic(0.8, 4),

    "gpt-5.5": plain(5, 0.5, 30, { ...priority(2.5), ...longAbove(272_000) }),
    "gpt-5.4": plain(2.5, 0.25, 15, { ...priority(2), ...longAbove(272_000) }),
    "gpt-5.4-mini": plain(0.75, 0.075, 4.5),
    "gpt-5.4-nano": plain(0.2, 0.02, 1.25),
    "gpt-5.3-codex": plain(1.75, 0.175, 14),
    "gpt-5.2": plain(1.75, 0.175, 14, priority(2)),
    "gpt-5.2-codex": plain(1.75, 0.175, 14, priority(2)),
    "gpt-5.1": plain(1.25, 0.125, 10, priority(2)),
    "gpt-5.1-codex": plain(1.25, 0.125, 10, priority(2)),
    "gpt-5.1-codex-max": plain(1.25, 0.125, 10),
    "gpt-5.1-codex-mini": plain(0.25, 0.025, 2),
    "gpt-5": plain(1.25, 0.125, 10, priority(2)),
    "gpt-5-codex": plain(1.25, 0.125, 10, priority(2)),
    "gpt-5-mini": plain(0.25, 0.025, 2),
    "gpt-5-nano": plain(0.05, 0.005, 0.4),
    "gpt-4.1": plain(2, 0.5, 8),
    "gpt-4.1-mini": plain(0.4, 0.1, 1.6),
    "gpt-4.1-nano": plain(0.1, 0.025, 0.4),
    "gpt-4o": plain(2.5, 1.25, 10),
    "gpt-4o-2024-05-13": { input: 5, output: 15 },
    "gpt-4o-mini": plain(0.15, 0.075, 0.6),
    o3: plain(2, 0.5, 8),
    "o4-mini": plain(1.1, 0.275, 4.4),
    "codex-mini-latest": plain(1.5, 0.375, 6),

    "gemini-3.5-flash": plain(1.5, 0.15, 9),
    "gemini-3.1-pro-preview": plain(2, 0.2, 12, { ...priority(1.8), ...longAbove(200_000) }),
    "gemini-3.1-flash-lite": plain(0.25, 0.025, 1.5),
    "gemini-3-pro-preview": plain(2, 0.2, 12, { ...priority(1.8), ...longAbove(200_000) }),
    "gemini-3-flash-preview": plain(0.5, 0.05, 3),
    "gemini-2.5-pro": plain(1.25, 0.125, 10, { ...priority(1.8), ...longAbove(200_000) }),
    "gemini-2.5-flash": plain(0.3, 0.03, 2.5, priority(1.8)),
    "gemini-2.5-flash-lite": plain(0.1, 0.01, 0.4, priority(1.8)),
  },
};
