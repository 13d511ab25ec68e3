/**
 * Tokens times prices, in whole millionths of a dollar, rounded up. Dollars for a million tokens are millionths of a
 * dollar for one, so nothing is divided; integers, because 0.1 + 0.2 must not cost a millionth more than 0.3.
 */
import type { ModelPrice } from "../../contract/model/price.ts";
import type { TokenUsage } from "../../contract/model/usage.ts";

const scale = 1_000_000;
const bigScale = BigInt(scale);
const scaled = (price: number): bigint => BigInt(Math.round(price * scale));
const tokens = (count: number): bigint => BigInt(Math.max(0, Math.trunc(count)));
const roundedUp = (cost: bigint): number => Number((cost + bigScale - 1n) / bigScale);

/** The prices for this much input: long prompts make all of it dearer. */
function charged(input: number, price: ModelPrice): ModelPrice {
  const { long } = price;
  if (long === undefined || input <= long.above) return price;
  const times = (one: number | undefined) => (one === undefined ? undefined : one * long.input);
  return {
    input: price.input * long.input,
    output: price.output * long.output,
    cached: times(price.cached),
    cache_write: times(price.cache_write),
  };
}

/** The cost of an answer. */
export function costOf(usage: TokenUsage, listed: ModelPrice): number {
  const price = charged(usage.input, listed);
  const cached = Math.min(usage.cached, usage.input);
  const cacheWrite = Math.min(usage.cacheWrite, usage.input - cached);
  return roundedUp(
    tokens(usage.input - cached - cacheWrite) * scaled(price.input) +
      tokens(cached) * scaled(price.cached ?? price.input) +
      tokens(cacheWrite) * scaled(price.cache_write ?? price.input) +
      tokens(usage.output) * scaled(price.output),
  );
}

/**
 * The most a request may cost: it is not known before how much of its input is cached, so all of it counts as dearest.
 */
export function mostItCosts(input: number, output: number, listed: ModelPrice): number {
  const price = charged(input, listed);
  return roundedUp(inputAtMost(input, price) + tokens(output) * scaled(price.output));
}

/** How much output the money is enough for; negative when it is not even enough for the input. */
export function outputFor(microUsd: number, input: number, listed: ModelPrice): number {
  const price = charged(input, listed);
  const left = BigInt(Math.trunc(microUsd)) * bigScale - inputAtMost(input, price);
  if (left < 0n) return -1;
  const each = scaled(price.output);
  return each === 0n ? Infinity : Number(left / each);
}

const inputAtMost = (input: number, price: ModelPrice): bigint =>
  tokens(input) * scaled(Math.max(price.input, price.cached ?? 0, price.cache_write ?? 0));
