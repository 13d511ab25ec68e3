/** What waits for a person besides questions of the gate. Pure. */
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";

export type WaitingKind = "answer" | "budget" | "stuck" | "failed" | "review";

export interface WaitingBox {
  readonly kind: WaitingKind;
  readonly box: BoxSummary;
  /** What a person should know, without the name. */
  readonly sentence: string;
  readonly sinceMs: number;
}

const urgency: readonly WaitingKind[] = ["answer", "budget", "stuck", "failed", "review"];

const none: ReadonlySet<string> = new Set();

/** The most urgent first, then whoever has waited longest. `exhausted`: paused boxes whose budget is used up. */
export function waitingBoxes(
  boxes: readonly BoxSummary[],
  exhausted: ReadonlySet<string> = none,
): WaitingBox[] {
  return boxes
    .flatMap((box) => {
      const found = waitingOf(box, exhausted.has(box.name));
      return found === undefined ? [] : [{ ...found, box, sinceMs: box.sinceMs }];
    })
    .sort((a, b) => urgency.indexOf(a.kind) - urgency.indexOf(b.kind) || a.sinceMs - b.sinceMs);
}

function waitingOf(box: BoxSummary, isExhausted: boolean): Pick<WaitingBox, "kind" | "sentence"> | undefined {
  const { phase, reason, agentState, verdict, changedFiles = 0 } = box;
  if (phase === "paused" && isExhausted)
    return { kind: "budget", sentence: "Its budget is used up, so it is paused until you raise it." };
  if (phase === "running" && agentState === "waiting")
    return { kind: "answer", sentence: "The agent waits for you." };
  if (phase === "running" && agentState === "stuck")
    return { kind: "stuck", sentence: "Nothing has happened for a long time, though it should be working." };
  if (verdict === "out_of_budget") return { kind: "budget", sentence: "Its budget is used up." };
  if (phase === "failed") return { kind: "failed", sentence: "The box failed." };
  if (verdict !== undefined && verdict !== "done" && verdict !== "interrupted")
    return { kind: "failed", sentence: `The agent ended: ${verdict.replaceAll("_", " ")}.` };
  const isDone =
    verdict === "done" || agentState === "done" || (phase === "stopped" && reason === "finished");
  if (changedFiles > 0 && isDone)
    return {
      kind: "review",
      sentence: `It is done: ${changedFiles} changed ${changedFiles === 1 ? "file waits" : "files wait"} for your review.`,
    };
  return undefined;
}
