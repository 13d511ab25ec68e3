import { omitUndefined } from "../../base/omit-undefined.ts";
import { plainLine } from "../../base/printable.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
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
    const isOutOfBudget = outOfBudget.has(box);
    return { ...summary, needs: decideNeeds(summary, { approvals, isOutOfBudget, nowMs }) };
  });
}

/** Why a box is paused is not in its record; it is known by its budgets. */
async function pausedForBudget(
  { budgets }: Using<"budgets">,
  boxes: readonly Box[],
): Promise<ReadonlySet<Box>> {
  const paused = boxes.filter(({ state }) => state.phase === "paused");
  const isExhausted = await Promise.all(paused.map((box) => budgets.isExhausted(box)));
  return new Set(paused.filter((_box, index) => isExhausted[index]));
}

const taskLength = 160;

/** What the agent was asked, as one line for lists. */
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
