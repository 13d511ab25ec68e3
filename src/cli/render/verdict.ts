import { printable } from "../../base/printable.ts";
import type { Verdict } from "../../contract/agent-events.ts";
import type { UsageAnswer } from "../../contract/api/schemas.ts";
import type { BudgetObstacle } from "../../contract/model/budget.ts";
import { raiseFlags } from "../../contract/model/budget-words.ts";
import type { UsageTotals } from "../../contract/model/usage.ts";
import type { Style } from "./style.ts";

const words: Record<Verdict, string> = {
  done: "Done",
  failed: "Failed",
  gave_up: "Gave up",
  out_of_budget: "Out of budget",
  timed_out: "Timed out",
  interrupted: "Interrupted",
};

/** How a run ended, and what it cost. */
export function renderVerdict(
  { verdict, why }: { readonly verdict: Verdict; readonly why: string },
  { totals }: Pick<UsageAnswer, "totals">,
  style: Style,
): readonly string[] {
  const mark = verdict === "done" ? style.green("✓") : style.red("✗");
  const head = `${mark} ${style.bold(words[verdict])}: ${printable(why)}`;
  return ["", head, `  ${style.dim(renderTotals(totals))}`];
}

interface NextStepFacts {
  readonly hasWork: boolean;
  readonly verdict: Verdict;
  /** Of a box that waits for its budget. */
  readonly obstacle?: BudgetObstacle | undefined;
}

/** Next steps for the work: review and merge only where something has changed. */
export function renderNextSteps(
  box: string,
  { hasWork, verdict, obstacle }: NextStepFacts,
  style: Style,
): string {
  const review: [string, string][] = [
    ["review", `agentbox diff ${box}`],
    ["merge", `agentbox merge ${box}`],
  ];
  const more: [string, string] =
    verdict === "out_of_budget"
      ? [
          "go on",
          `agentbox budget raise ${obstacle?.holder ?? box} ${obstacle ? raiseFlags(obstacle) : "--tokens N"}`,
        ]
      : ["more", `agentbox send ${box} "…"`];
  const steps = [...(hasWork ? review : []), more];
  return `  ${steps.map(([name, command]) => `${style.dim(`${name}:`)} ${command}`).join("   ")}`;
}

/** `3 requests, 12,345 tokens in (8,000 cached), 678 out, $0.0123`. */
export function renderTotals({ requests, usage, costMicroUsd, unpriced, estimated }: UsageTotals): string {
  const cached = usage.cached > 0 ? ` (${count(usage.cached)} cached)` : "";
  const parts = [
    `${count(requests)} ${requests === 1 ? "request" : "requests"}`,
    `${count(usage.input)} tokens in${cached}`,
    `${count(usage.output)} out`,
    renderCost(costMicroUsd, unpriced, requests),
  ];
  return `${parts.join(", ")}${estimated > 0 ? ` (${estimated} estimated)` : ""}`;
}

/** Never zero for what is not known. */
export function renderCost(microUsd: number, unpriced: number, requests: number): string {
  const known = `$${(microUsd / 1_000_000).toFixed(microUsd < 10_000_000 ? 4 : 2)}`;
  if (unpriced === 0) return known;
  return unpriced === requests ? "cost unknown" : `${known} and ${unpriced} of unknown cost`;
}

const count = (value: number): string => value.toLocaleString("en-US");
