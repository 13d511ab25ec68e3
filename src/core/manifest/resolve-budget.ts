/** The limits of all layers that hold for a box. Pure. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import { type BudgetLimit, BudgetScope } from "../../contract/model/budget.ts";
import type { ManifestLayer } from "../../manifest/index.ts";

const layerNames = { "user config": "user", manifest: "project", flag: "flag" } as const;
type Amounts = Pick<BudgetLimit, "tokens" | "microUsd">;

/**
 * SECURITY: all of them hold, so a project spends no more than the person's own config lets it. A flag replaces the
 * project's limit for the same scope, and nothing else.
 */
export function resolveBudget(layers: readonly ManifestLayer[]): BudgetLimit[] {
  return BudgetScope.options.flatMap((scope) => {
    const typed = amountsOf(layers, "flag", scope);
    return (Object.keys(layerNames) as (keyof typeof layerNames)[]).flatMap((source): BudgetLimit[] => {
      const amounts = amountsOf(layers, source, scope);
      const { tokens, microUsd } = source === "manifest" ? without(amounts, typed) : amounts;
      if (tokens === undefined && microUsd === undefined) return [];
      return [
        {
          scope,
          layer: layerNames[source],
          ...omitUndefined({ tokens, microUsd }),
        },
      ];
    });
  });
}

function amountsOf(
  layers: readonly ManifestLayer[],
  source: ManifestLayer["source"],
  scope: BudgetScope,
): Amounts {
  const { tokens, usd } = layers.find((layer) => layer.source === source)?.values.budget?.[scope] ?? {};
  // Rounded up: the smallest amount that can be written is still a limit, and not nothing.
  return { tokens, microUsd: usd === undefined ? undefined : Math.ceil(Number((usd * 1e6).toFixed(3))) };
}

const without = (amounts: Amounts, typed: Amounts): Amounts => ({
  tokens: typed.tokens === undefined ? amounts.tokens : undefined,
  microUsd: typed.microUsd === undefined ? amounts.microUsd : undefined,
});
