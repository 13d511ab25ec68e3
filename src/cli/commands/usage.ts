import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { UsageAnswer } from "../../contract/api/schemas.ts";
import type { RunCommand } from "../command.ts";
import { renderTable } from "../render/table.ts";
import { renderCost, renderTotals } from "../render/verdict.ts";

const groups = ["box", "agent", "project", "model", "day"] as const;

export const run: RunCommand = async ({ args, screen, connect }) => {
  const wanted = args.text("by") ?? "box";
  const by = groups.find((group) => group === wanted);
  if (by === undefined) {
    throw new AgentBoxError("input.invalid", `--by ${wanted} is not known.`, {
      hint: `Choose one of: ${groups.join(", ")}.`,
    });
  }
  const sinceMs = args.durationMs("since");
  const client = await connect();
  const answer = await client.getUsage({
    box: args.positionals[0],
    by,
    ...(sinceMs === undefined ? {} : { from: Date.now() - sinceMs }),
  });
  if (screen.isJson) screen.printJson(answer);
  else screen.print(render(by, answer));
  return 0;
};

function render(by: string, { groups: rows, totals, pricesOf }: UsageAnswer): string {
  if (totals.requests === 0) return "No model has been asked yet.";
  const count = (value: number): string => value.toLocaleString("en-US");
  const table = renderTable([
    [by.toUpperCase(), "REQUESTS", "IN", "CACHED", "OUT", "REASONING", "COST"],
    ...rows.map(({ key, totals: { requests, usage, costMicroUsd, unpriced } }) => [
      printable(key),
      count(requests),
      count(usage.input),
      count(usage.cached),
      count(usage.output),
      count(usage.reasoning),
      renderCost(costMicroUsd, unpriced, requests),
    ]),
  ]);
  return `${table}\n\n${renderTotals(totals)} (prices of ${pricesOf})`;
}
