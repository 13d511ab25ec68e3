import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { BudgetAnswer, RaiseBudget } from "../../contract/api/schemas.ts";
import { BudgetScope, type BudgetStatus } from "../../contract/model/budget.ts";
import { obstacleSentence, raiseFlags } from "../../contract/model/budget-words.ts";
import type { Arguments } from "../line/arguments.ts";
import type { RunCommand } from "../command.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const [verb, box] = args.positionals;
  const isRaise = verb === "raise";
  if (!isRaise && verb !== "show") {
    throw new AgentBoxError("input.invalid", `There is no "agentbox budget ${verb ?? ""}".`, {
      hint: "Write: agentbox budget show BOX, or agentbox budget raise BOX --tokens N",
    });
  }
  if (box === undefined) {
    throw new AgentBoxError("input.invalid", "Which box?", {
      hint: `Write: agentbox budget ${verb} BOX`,
    });
  }
  const client = await connect();
  const answer = isRaise ? await client.raiseBudget(box, readRaise(args)) : await client.getBudget(box);
  if (screen.isJson) screen.printJson(answer);
  else screen.print(render(answer));
  return 0;
};

function readRaise(args: Arguments): RaiseBudget {
  const tokens = args.integer("tokens");
  const usd = args.text("usd");
  const scope = args.text("scope");
  if (tokens === undefined && usd === undefined) {
    throw new AgentBoxError("input.invalid", "By how much?", {
      hint: "Add --tokens 100000 or --usd 2.50; it is added to the limit.",
    });
  }
  if (usd !== undefined && !/^\d+(\.\d{1,6})?$/.test(usd)) {
    throw new AgentBoxError("input.invalid", `--usd is "${usd}", which is not an amount.`, {
      hint: "Write --usd 2.50.",
    });
  }
  return {
    ...(scope === undefined ? {} : { scope: BudgetScope.parse(scope) }),
    ...omitUndefined({ tokens }),
    ...(usd === undefined ? {} : { microUsd: Math.round(Number(usd) * 1_000_000) }),
  };
}

function render({ box, limits, isExhausted, obstacle }: BudgetAnswer): string {
  if (limits.length === 0) return `${box} has no budget.`;
  const rows = limits.flatMap((limit) => [...tokenRow(limit), ...moneyRow(limit)]);
  const table = renderTable([["SCOPE", "SET BY", "USED", "RESERVED", "LIMIT", ""], ...rows]);
  if (obstacle) {
    const raise = `agentbox budget raise ${obstacle.holder} --scope ${obstacle.scope} ${raiseFlags(obstacle)}`;
    return `${table}\n\n${obstacleSentence(obstacle)}\nGo on with: ${raise}`;
  }
  return isExhausted ? `${table}\n\nUsed up. Go on with: agentbox budget raise ${box} --tokens N` : table;
}

const count = (value: number): string => value.toLocaleString("en-US");
const usd = (micro: number): string => `$${(micro / 1_000_000).toFixed(2)}`;
const percent = (used: number, limit: number): string => `${Math.floor((100 * used) / limit)} %`;

const tokenRow = ({ scope, layer, tokens, usedTokens, reservedTokens }: BudgetStatus): string[][] =>
  tokens === undefined
    ? []
    : [
        [
          scope,
          layer,
          count(usedTokens),
          count(reservedTokens),
          `${count(tokens)} tokens`,
          percent(usedTokens, tokens),
        ],
      ];

const moneyRow = ({ scope, layer, microUsd, usedMicroUsd, reservedMicroUsd }: BudgetStatus): string[][] =>
  microUsd === undefined
    ? []
    : [
        [
          scope,
          layer,
          usd(usedMicroUsd),
          usd(reservedMicroUsd),
          usd(microUsd),
          percent(usedMicroUsd, microUsd),
        ],
      ];
