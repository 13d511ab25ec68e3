import { AgentBoxError } from "../../base/errors.ts";
import type { BudgetAnswer, RaiseBudget } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import { obstacleSentence, raiseFlags } from "../../contract/model/budget-words.ts";
import type { BudgetLimit, BudgetScope } from "../../contract/model/budget.ts";
import type { HeldLimit } from "./limits-of.ts";
import type { PauseParts, Using } from "../using.ts";
import { resumeBox } from "../box/pause-box.ts";

/**
 * Adds to limits of a box, and lets it (and the boxes below it) go on when a budget had paused it. This is the one
 * change of a specification after the box was made. Shared limits (a day, a tree) are raised for this box only.
 */
export async function raiseBudget(
  core: Using<PauseParts | "budgets">,
  name: string,
  raise: RaiseBudget,
): Promise<BudgetAnswer> {
  if (raise.tokens === undefined && raise.microUsd === undefined) {
    throw new AgentBoxError("input.invalid", "Nothing was said about how much to add.", {
      hint: `Say how much: agentbox budget raise ${name} --tokens 500000`,
    });
  }
  const waiting = await core.locked(name, async () => {
    const box = await core.getBox(name);
    const exhausted = await core.budgets.exhaustedLimits(name);
    const scopes = raise.scope ? [raise.scope] : scopesToRaise(name, exhausted);
    const budget = box.spec.budget.map((limit) =>
      scopes.includes(limit.scope) ? raised(limit, raise) : limit,
    );
    const limits = budget.filter((limit, i) => limit !== box.spec.budget[i]);
    if (limits.length === 0) throw nothingToRaise(box, scopes, exhausted[0]?.holder);
    const waitingBoxes = await exhaustedBoxes(core, name);
    const update = { ...box, spec: { ...box.spec, budget } };
    const { tokens, microUsd } = raise;
    const event = core.event("budget.raised", update, { scopes, tokens, microUsd, limits });
    await core.commit({ update, events: [event] });
    core.budgets.limitsChanged();
    return waitingBoxes;
  });
  for (const one of waiting) await letGoOn(core, one);
  return core.budgets.status(name);
}

/** Its own limits that are used up; where none is, the run. */
function scopesToRaise(name: string, exhausted: readonly HeldLimit[]): readonly BudgetScope[] {
  const scopes = exhausted.filter(({ holder }) => holder === name).map(({ limit }) => limit.scope);
  return scopes.length > 0 ? [...new Set(scopes)] : ["run"];
}

/** The box and those below it, which wait for its tree, as far as a budget stopped them. */
async function exhaustedBoxes(core: Using<"budgets" | "store">, name: string): Promise<readonly string[]> {
  const names = (await core.ports.store.listBoxes()).map((box) => box.name);
  const family = names.filter((one) => one === name || one.startsWith(`${name}-`));
  const found: string[] = [];
  for (const one of family) if ((await core.budgets.exhaustedLimits(one)).length > 0) found.push(one);
  return found;
}

async function letGoOn(core: Using<PauseParts | "budgets">, name: string): Promise<void> {
  const box = await core.ports.store.findBox(name);
  if (box?.state.phase !== "paused") return;
  if (!(await core.budgets.status(name)).isExhausted) await resumeBox(core, name);
}

/** Only the numbers a limit has: a limit of tokens does not become one of money. */
function raised(limit: BudgetLimit, { tokens, microUsd }: RaiseBudget): BudgetLimit {
  const addTokens = limit.tokens !== undefined && tokens !== undefined;
  const addMoney = limit.microUsd !== undefined && microUsd !== undefined;
  if (!addTokens && !addMoney) return limit;
  return {
    ...limit,
    ...(addTokens ? { tokens: sum(limit.tokens!, tokens) } : {}),
    ...(addMoney ? { microUsd: sum(limit.microUsd!, microUsd) } : {}),
  };
}

const sum = (a: number, b: number): number => Math.min(a + b, Number.MAX_SAFE_INTEGER);

function nothingToRaise(box: Box, scopes: readonly BudgetScope[], holder: string | undefined): AgentBoxError {
  const has = box.spec.budget.map(
    ({ scope, tokens, microUsd }) =>
      `${scope} (${[tokens && "tokens", microUsd && "usd"].filter(Boolean).join(", ")})`,
  );
  const hint =
    holder !== undefined && holder !== box.name
      ? `The limit belongs to the tree of "${holder}": agentbox budget raise ${holder} --scope tree`
      : has.length > 0
        ? `Its limits are: ${has.join("; ")}.`
        : `It has no limits of its own; see: agentbox budget show ${box.name}`;
  return new AgentBoxError(
    "input.invalid",
    `The box "${box.name}" has no limit for ${scopes.join(" or ")} that could be raised by that.`,
    { hint, facts: { box: box.name } },
  );
}

/** A box that waits for its budget would be frozen again by its next request; it goes on when the budget is raised. */
export async function resumeWithinBudget(core: Using<PauseParts | "budgets">, name: string): Promise<Box> {
  const box = await core.getBox(name);
  const obstacle = box.state.phase === "paused" ? await core.budgets.obstacle(box) : undefined;
  if (!obstacle) return resumeBox(core, name);
  throw new AgentBoxError(
    "budget.exhausted",
    `"${name}" waits for its budget. ${obstacleSentence(obstacle)}`,
    {
      hint: `Raise it: agentbox budget raise ${obstacle.holder} --scope ${obstacle.scope} ${raiseFlags(obstacle)}`,
      facts: { box: name, ...obstacle },
    },
  );
}
