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

type Facts = BoxSummary & { readonly changedFiles?: number | undefined };

const urgency: readonly WaitingKind[] = ["answer", "budget", "stuck", "failed", "review"];

/** The most urgent first, then whoever has waited longest. */
export function waitingBoxes(boxes: readonly BoxSummary[]): WaitingBox[] {
  return boxes
    .flatMap((box) => {
      const found = waitingOf(box);
      return found === undefined ? [] : [{ ...found, box, sinceMs: box.sinceMs }];
    })
    .sort((a, b) => urgency.indexOf(a.kind) - urgency.indexOf(b.kind) || a.sinceMs - b.sinceMs);
}

function waitingOf(box: Facts): Pick<WaitingBox, "kind" | "sentence"> | undefined {
  const { phase, agentState, verdict, changedFiles = 0 } = box;
  if (phase === "running" && agentState === "waiting")
    return { kind: "answer", sentence: "The agent waits for you." };
  if (phase === "running" && agentState === "stuck")
    return { kind: "stuck", sentence: "Nothing has happened for a long time, though it should be working." };
  if (verdict === "out_of_budget") return { kind: "budget", sentence: "Its budget is used up." };
  if (phase === "failed") return { kind: "failed", sentence: "The box failed." };
  if (verdict !== undefined && verdict !== "done" && verdict !== "interrupted")
    return { kind: "failed", sentence: `The agent ended: ${verdict.replaceAll("_", " ")}.` };
  if (changedFiles > 0 && (verdict === "done" || agentState === "done"))
    return {
      kind: "review",
      sentence: `The agent is done. ${changedFiles} changed ${changedFiles === 1 ? "file waits" : "files wait"} for your review.`,
    };
  return undefined;
}
