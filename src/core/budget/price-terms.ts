/**
 * The terms that a request asks for beyond the standard price, such as `speed=fast`. Pure. SECURITY: a dearer tier must
 * never be counted as the standard one, or a box spends a multiple of its budget.
 */
import type { ModelPrice } from "../../contract/model/price.ts";

export type TermFactors = Readonly<Record<string, number>>;

/** Cheaper everywhere, or the vendor's usual; counted as the standard, which is never too little. */
const harmless: TermFactors = { "service_tier=flex": 1, "service_tier=batch": 1 };

/** Written for an hour and not for five minutes: twice the input in place of 1.25 times. */
const longCache = "cache_ttl=1h";
const longCacheFactor = 1.6;

/** No vendor's tier has been dearer than so many times its standard; for what an answer says and no table knows. */
export const dearestFactor = 6;

export interface PricedTerms {
  readonly price: ModelPrice;
  /** Terms without a known price. */
  readonly unknown: readonly string[];
}

export function priceWith(terms: readonly string[], listed: ModelPrice): PricedTerms {
  const factors = { ...harmless, ...listed.terms };
  const unknown = terms.filter((term) => term !== longCache && !Object.hasOwn(factors, term));
  const factor = terms.reduce((all, term) => (term === longCache ? all : all * (factors[term] ?? 1)), 1);
  const cached = terms.includes(longCache) ? (factors[longCache] ?? longCacheFactor) : 1;
  return { price: multiplied(listed, factor, cached), unknown };
}

export function multiplied(price: ModelPrice, factor: number, cacheFactor = 1): ModelPrice {
  if (factor === 1 && cacheFactor === 1) return price;
  const { input, output, cached = input, cache_write = input } = price;
  return {
    ...price,
    input: input * factor,
    output: output * factor,
    cached: cached * factor,
    cache_write: cache_write * factor * cacheFactor,
  };
}

/** The terms that hold in the end: what the answer says of one wins over what was asked. */
export function settledTerms(
  asked: readonly string[],
  answered: Readonly<Record<string, string>> = {},
): readonly string[] {
  const nameOf = (term: string): string => term.split("=")[0] ?? term;
  const kept = asked.filter((term) => !Object.hasOwn(answered, nameOf(term)));
  const answeredTerms = Object.entries(answered).map(([name, value]) => `${name}=${value}`);
  return [...kept, ...answeredTerms.filter((term) => !standard.has(term))];
}

/**
 * Vendors' names for tiers at the listed price. Prices that an account has agreed with its vendor are not counted here.
 */
const standard: ReadonlySet<string> = new Set([
  "service_tier=default",
  "service_tier=standard",
  "service_tier=auto",
  "speed=standard",
  "inference_geo=global",
  "inference_geo=not_available",
]);
