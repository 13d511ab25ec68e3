import { omitUndefined } from "../../base/omit-undefined.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import type { Using } from "../using.ts";
import { decideNeeds } from "./decide-needs.ts";

/** One line of the list for each box. */
export async function summariseBoxes(
  core: Using<"approvals" | "budgets" | "clock" | "facts" | "resources">,
  boxes: readonly Box[],
): Promise<BoxSummary[]> {
  core.resources.asked();
  await core.facts.ready(boxes);
  const outOfBudget = await pausedForBudget(core, boxes);
  const approvals = core.approvals.list();
  const nowMs = core.ports.clock.nowMs();
  return boxes.map((box) => {
    const summary = { ...summarise(box), ...core.facts.of(box), ...core.resources.sparks(box) };
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
  ...omitUndefined({ agentState: run?.state, verdict: run?.verdict }),
});
