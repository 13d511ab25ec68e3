import type { BoxSummary } from "../../contract/api/schemas.ts";
import type { Need } from "../../contract/needs.ts";
import type { Approval } from "../../contract/network/egress.ts";

/** An older failure is history: the list shows it, but it needs no person. */
const freshMs = 24 * 3_600_000;

export interface NeedFacts {
  readonly approvals: readonly Approval[];
  /** Why the box is paused, where a budget of it is too small. */
  readonly budget: string | undefined;
  readonly nowMs: number;
}

/** The needs of a box: the reasons why it waits for a person. Pure. */
export function decideNeeds(box: Omit<BoxSummary, "needs">, facts: NeedFacts): Need[] {
  const questions = facts.approvals
    .filter((approval) => approval.box === box.name)
    .map(
      ({ id, sentence, askedAtMs }): Need => ({
        kind: "question",
        sentence,
        sinceMs: askedAtMs,
        approval: id,
      }),
    );
  const state = needOfState(box, facts);
  return state === undefined ? questions : [...questions, { ...state, sinceMs: box.sinceMs }];
}

function needOfState(
  { phase, reason, agentState, verdict, changedFiles = 0, sinceMs }: Omit<BoxSummary, "needs">,
  { budget, nowMs }: NeedFacts,
): Pick<Need, "kind" | "sentence"> | undefined {
  if (phase === "paused" && budget !== undefined)
    return { kind: "budget", sentence: `${budget} It is paused until you raise it.` };
  if (phase === "running" && agentState === "waiting")
    return { kind: "answer", sentence: "The agent waits for your answer." };
  if (phase === "running" && agentState === "stuck")
    return { kind: "stuck", sentence: "Nothing has happened for a long time, though it should be working." };
  if (verdict === "out_of_budget")
    return { kind: "budget", sentence: "It ended out of budget. Raise the limit, and tell it to go on." };
  const isFresh = nowMs - sinceMs < freshMs;
  if (phase === "failed") return isFresh ? { kind: "failed", sentence: "The box failed." } : undefined;
  if (verdict !== undefined && verdict !== "done" && verdict !== "interrupted")
    return isFresh
      ? { kind: "failed", sentence: `The agent ended: ${verdict.replaceAll("_", " ")}.` }
      : undefined;
  const isDone =
    verdict === "done" || agentState === "done" || (phase === "stopped" && reason === "finished");
  if (changedFiles > 0 && isDone)
    return {
      kind: "review",
      sentence: `It is done: ${changedFiles} changed ${changedFiles === 1 ? "file waits" : "files wait"} for your review.`,
    };
  return undefined;
}
