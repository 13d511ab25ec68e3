import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { UsageAnswer } from "../../contract/api/schemas.ts";
import type { ModelRecord } from "../../contract/model/usage.ts";
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
  const from = args.momentMs("since");
  const client = await connect();
  if (args.isSet("requests")) {
    const all = await client.listModelRequests({
      box: args.positionals[0],
      ...(from === undefined ? {} : { limit: 1_000 }),
    });
    const requests = all.filter(({ atMs }) => atMs >= (from ?? 0));
    if (screen.isJson) screen.printJson({ requests });
    else screen.print(renderRequests(requests));
    return 0;
  }
  const answer = await client.getUsage({
    box: args.positionals[0],
    by,
    ...omitUndefined({ from }),
  });
  if (screen.isJson) screen.printJson(answer);
  else screen.print(render(by, answer));
  return 0;
};

/** The estimate before each request beside the vendor's report after it. */
function renderRequests(requests: readonly ModelRecord[]): string {
  if (requests.length === 0) return "No model has been asked yet.";
  const count = (value: number | undefined): string => value?.toLocaleString("en-US") ?? "unknown";
  return renderTable([
    ["AT", "BOX", "MODEL", "STATUS", "IN", "EXPECTED", "OUT", "AT MOST", "COST", "TIME"],
    ...requests.map(({ atMs, box, model, status, error, usage, estimate, costMicroUsd, durationMs }) => [
      new Date(atMs).toISOString().slice(11, 19),
      box,
      printable(model),
      error === undefined ? String(status) : `${status} ${printable(error)}`,
      count(usage?.input),
      count(estimate.input),
      count(usage?.output),
      count(estimate.output),
      renderCost(costMicroUsd ?? 0, costMicroUsd === undefined ? 1 : 0, 1),
      `${durationMs} ms`,
    ]),
  ]);
}

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
