import { omitUndefined } from "../../base/omit-undefined.ts";
import { plainLine } from "../../base/printable.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import { obstacleSentence } from "../../contract/model/budget-words.ts";
import type { Using } from "../using.ts";
import { decideNeeds } from "./decide-needs.ts";

/** One line of the list for each box. */
export async function summariseBoxes(
  core: Using<"approvals" | "budgets" | "clock" | "conversations" | "facts" | "resources">,
  boxes: readonly Box[],
): Promise<BoxSummary[]> {
  core.resources.asked();
  await core.facts.ready(boxes);
  const outOfBudget = await pausedForBudget(core, boxes);
  const approvals = core.approvals.list();
  const nowMs = core.ports.clock.nowMs();
  return boxes.map((box) => {
    const lastAction = box.run === undefined ? undefined : core.conversations.lastAction(box);
    const summary = {
      ...summarise(box),
      ...core.facts.of(box),
      ...omitUndefined({ lastAction }),
      ...core.resources.sparks(box),
    };
    const budget = outOfBudget.get(box);
    return { ...summary, needs: decideNeeds(summary, { approvals, budget, nowMs }) };
  });
}

/** Why a box is paused is not in its record; it is known by its budgets. */
async function pausedForBudget(
  { budgets }: Using<"budgets">,
  boxes: readonly Box[],
): Promise<ReadonlyMap<Box, string>> {
  const paused = boxes.filter(({ state }) => state.phase === "paused");
  const why = async (box: Box): Promise<string | undefined> => {
    const obstacle = await budgets.obstacle(box);
    if (obstacle) return obstacleSentence(obstacle);
    return (await budgets.isExhausted(box)) ? "Its budget is used up." : undefined;
  };
  const found = await Promise.all(paused.map(async (box) => [box, await why(box)] as const));
  return new Map(found.flatMap(([box, text]) => (text === undefined ? [] : [[box, text] as const])));
}

const taskLength = 160;

/** The agent's task, as one line for lists. */
function firstLine(task: string | undefined): string | undefined {
  const line = task?.split("\n").find((one) => one.trim() !== "");
  return line === undefined ? undefined : plainLine(line.slice(0, taskLength));
}

const summarise = ({
  name,
  state,
  spec,
  projectDir,
  createdAtMs,
  expiresAtMs,
  restarts,
  run,
}: Box): Omit<BoxSummary, "needs"> => ({
  name,
  phase: state.phase,
  ...("reason" in state ? { reason: state.reason } : {}),
  ...(state.phase === "stopped" && state.exitCode !== undefined ? { exitCode: state.exitCode } : {}),
  agent: spec.agent.name,
  runtime: spec.runtime,
  ...omitUndefined({ projectDir }),
  createdAtMs,
  sinceMs: state.sinceMs,
  ...omitUndefined({ expiresAtMs }),
  restarts,
  ...omitUndefined({ agentState: run?.state, verdict: run?.verdict, task: firstLine(run?.task) }),
});
